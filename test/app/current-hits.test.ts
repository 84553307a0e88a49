import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import type { Session } from '../../src/core/memory/session.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let app: App;
let session: Session;

beforeEach(() => {
  repo = Repo.create();
  app = projectApp(repo.root);
  session = app.connect();
  session.agent = 'tester/1.0';
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of several tools
type Answer = any;

async function call(tool: string, args: object, by = session): Promise<Answer> {
  const answer = await app.call(by, tool, { ...args });
  if (!answer || answer.error) throw new Error(JSON.stringify(answer?.body));
  return answer.body;
}

const search = (query: string, args: object = {}) => call('search_memory', { query, ...args });
const sections = (body: Answer): string[] =>
  body.results.map(({ section }: Answer) => section.replace(/^Decision Log > /, ''));
const paths = (body: Answer): string[] => body.results.map(({ path }: Answer) => path);
const day = (at: number) =>
  `2026-${String(1 + Math.floor(at / 28)).padStart(2, '0')}-${String(1 + (at % 28)).padStart(2, '0')}`;

describe('a log of decisions', () => {
  const titles = Array.from({ length: 30 }, (_, at) => `Caching of part ${at + 1} - ${day(at)}`);
  const others = Array.from({ length: 20 }, (_, at) => `Colour of page ${at + 1} - ${day(at)}`);

  test('has a hit for each decision on a subject, the newest first, in pages', async () => {
    const texts = titles.map((title, at) => `## ${title}\n\nFor ${at + 1} hours.\n`);
    const rest = others.map((title) => `## ${title}\n\nBlue.\n`);
    repo.write(
      '.memory-bank/decisionLog.md',
      `# Decision Log\n\n${[...texts, ...rest].join('\n')}`,
    );
    const first = await search('caching', { limit: 12 });
    expect(first).toMatchObject({ total: 30, truncated: true });
    const newest = titles.toReversed();
    expect(sections(first)).toEqual(newest.slice(0, 12));
    const next = await search('caching', { limit: 12, offset: 12 });
    expect(sections(next)).toEqual(newest.slice(12, 24));
    const last = await search('caching', { limit: 12, offset: 24 });
    expect(last).toMatchObject({ total: 30, truncated: false });
    expect(sections(last)).toEqual(newest.slice(24));
    expect(first.results[0]).toMatchObject({ snippet: 'For 30 hours.' });
    expect(paths(await search('caching', { offset: 30 }))).toEqual([]);
  });

  test('has a hit for each decision that contains a text, titled by the decision', async () => {
    const texts = titles.slice(0, 3).map((title, at) => `## ${title}\n\nKeys are \`a:${at}.b\`.\n`);
    repo.write('.memory-bank/decisionLog.md', `# Decision Log\n\n${texts.join('\n')}`);
    const all = await search('`a:', { fuzzy: false });
    expect(all.total).toBe(3);
    expect(all.results).toMatchObject(
      [2, 1, 0].map((at) => ({
        title: titles[at],
        section: `Decision Log > ${titles[at]}`,
        snippet: `Keys are \`a:${at}.b\`.`,
      })),
    );
    const [named] = (await search('Caching of part 2', { fuzzy: false })).results;
    expect(named).toMatchObject({ title: titles[1], score: 1 });
    expect((await search('caching')).results[0].title).toBe(titles[2]);
  });

  test('in the order of the newest first is read in that order', async () => {
    const texts = titles
      .slice(0, 5)
      .toReversed()
      .map((title) => `### ${title}\n\nYes.\n`);
    repo.write('.memory-bank/log.md', `# Log\n\n## Entries\n\n${texts.join('\n')}`);
    const { total, results } = await search('caching');
    expect(total).toBe(5);
    expect(results[0].section).toContain('Caching of part 5');
  });

  test('answers a title with the decision that has it, also an older one', async () => {
    for (const title of ['Sign-in', 'Sign-in for partners']) {
      await call('log_decision', { title, context: 'Why not', decision: `${title} it is.` });
    }
    expect((await search('sign-in')).results[0].snippet).toBe('Sign-in it is.');
  });

  test('has a superseded decision after the one that replaces it', async () => {
    const decide = (title: string, decision: string, more: object = {}) =>
      call('log_decision', { title, context: 'Sessions are lost.', decision, ...more });
    await decide('Session storage', 'Sessions are in Redis, sessions of a day.');
    await decide('Cookies', 'A signed cookie holds the session.', {
      supersedes: ['Session storage'],
    });
    for (const query of ['session', 'where are sessions', 'session redis']) {
      const [first, second] = sections(await search(query));
      expect([first, second]).toEqual([
        expect.stringMatching(/^Cookies/),
        expect.stringMatching(/^Session storage/),
      ]);
    }
  });
});

describe('of two records that say nearly the same', () => {
  const entry = (key: string, value: string, at: string) =>
    repo.write(
      `.memory-bank/knowledge/patterns/${key}.md`,
      `---\ncategory: patterns\nkey: ${key}\ncreated_at: ${at}T10:00:00.000Z\nupdated_at: ${at}T10:00:00.000Z\n---\n${value}\n`,
    );
  const files = (body: Answer) => paths(body).map((path) => path.split('/').at(-1));

  test('the newer comes first', async () => {
    entry(
      'a-upload',
      'Uploads of pictures are limited to ten megabytes for each file.',
      '2026-01-02',
    );
    entry(
      'z-upload',
      'Uploads of pictures are limited to four megabytes for each file.',
      '2026-02-02',
    );
    expect(files(await search('limit of uploads of pictures'))).toEqual([
      'z-upload.md',
      'a-upload.md',
    ]);
    entry(
      'a-upload',
      'Uploads of pictures are limited to nine megabytes for each file.',
      '2026-03-02',
    );
    expect(files(await search('limit of uploads of pictures'))).toEqual([
      'a-upload.md',
      'z-upload.md',
    ]);
  });

  test('only one is about what a short query asks for, and stays first', async () => {
    entry('orders', 'The timeout of the service of orders is thirty seconds.', '2026-01-02');
    entry('stock', 'The timeout of the service of stock is thirty seconds.', '2026-02-02');
    expect(files(await search('timeout orders'))[0]).toBe('orders.md');
    expect(files(await search('orders'))[0]).toBe('orders.md');
  });

  test('the one that a person wrote comes before a later one that only an agent wrote', async () => {
    const person = app.connect();
    const write = (key: string, value: string, by: Session) =>
      call('memory_write', { category: 'patterns', key, value }, by);
    await write('a-upload', 'Uploads of pictures are limited to ten megabytes each.', person);
    repo.git('commit', '-q', '--amend', '-m', 'Limit uploads');
    await write('z-upload', 'Uploads of pictures are limited to four megabytes each.', session);
    const found = await search('limit of uploads of pictures');
    expect(files(found)).toEqual(['a-upload.md', 'z-upload.md']);
    expect(found.results[0].later).toContain('z-upload.md');
  });
});
