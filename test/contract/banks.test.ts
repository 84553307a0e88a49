import { afterAll, beforeAll, expect, test } from 'vitest';
import { deep, describeDeep } from '../support/depth.ts';
import { ModelEndpoint } from '../support/model.ts';
import { main, newFolder, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

// biome-ignore lint/suspicious/noExplicitAny: an answer of which the test asserts every part
type Answer = any;

/** A client of the built program, which asks one thing after the other. */
class Conversation {
  readonly client: RawClient;
  #count = 0;

  constructor(cwd: string, env: { readonly [name: string]: string } = {}) {
    this.client = new RawClient([main], { cwd, env: { HOME: newFolder(), ...env } });
    this.client.initialize();
  }

  /** What the tool answers, and the bytes that the answer takes. */
  async call(name: string, args: object): Promise<{ answer: Answer; bytes: number }> {
    this.#count += 1;
    const { result } = await this.client.call(this.#count, name, args).answer(this.#count);
    expect(result.isError, result.content[0].text).toBeUndefined();
    return {
      answer: result.structuredContent,
      bytes: Buffer.byteLength(result.content[0].text),
    };
  }
}

const project = { bank_type: 'project', bank_id: 'Ledger' };
const code = { bank_type: 'code', bank_id: 'ledger' };

deep(
  'a conversation leaves banks that a person would keep, in answers of the stated size',
  async () => {
    const repo = Repo.create();
    const first = new Conversation(repo.root);
    expect((await first.call('activate', project)).bytes).toBeLessThanOrEqual(5_000);
    for (const content of [
      '- Use PostgreSQL: one database for books and queue. Rejected: Redis.',
      '- Book in whole cents: no rounding anywhere.',
      '- Keep ten years of invoices readable.',
    ]) {
      const { answer } = await first.call('update', {
        ...project,
        target_file: 'doc/architecture.md',
        operation: 'insert',
        position: 'Decisions',
        content,
        trigger_type: 'architecture',
      });
      expect(answer).toMatchObject({
        status: 'success',
        verification: expect.stringMatching(/^\/\/ Update #\d for conversation /),
      });
    }
    expect((await first.call('activate', code)).bytes).toBeLessThanOrEqual(5_000);
    await first.call('swap', project);
    await first.call('swap', code);
    const before = await first.call('swap', project);
    expect(await first.client.end()).toBe(0);

    const again = new Conversation(repo.root);
    const after = await again.call('activate', project);
    expect(after).toEqual(before);
    expect(after.bytes).toBeLessThanOrEqual(40_000);
    await again.client.end();

    const files = repo.git('ls-files', '.memory-bank/banks').trim().split('\n');
    const texts = files.map((file) => [
      file,
      repo.read(file).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, '<time>'),
    ]);
    expect(Object.fromEntries(texts)).toMatchSnapshot();
    expect(repo.git('log', '--format=%s', '--reverse').trim().split('\n')).toEqual([
      'Begin',
      'memory: create project bank "Ledger"',
      ...Array(3).fill('memory: update doc/architecture.md of project bank "Ledger"'),
      'memory: create code bank "ledger"',
    ]);
    expect(repo.status()).toEqual([]);
  },
);

deep(
  'where there is no project, as Claude Desktop starts it, global banks are served in full',
  async () => {
    const home = new Repo();
    const general = { bank_type: 'global', bank_id: 'general' };
    const conversation = new Conversation('/', { HOME: home.root });
    await conversation.call('activate', general);
    const change = { target_file: 'preferences.md', operation: 'insert', position: 'Answers' };
    await conversation.call('update', { ...general, ...change, content: '- Short ones.' });
    const { answer } = await conversation.call('list', {});
    expect(answer).toMatchObject({
      global: [{ id: 'general', active: true }],
      projects: [],
      code: [],
      note: expect.stringContaining('--root'),
    });
    await conversation.client.end();
    const memory = new Repo(home.path('.memory-bank'));
    expect(memory.read('banks/global/general/preferences.md')).toContain(
      '## Answers\n\n- Short ones.\n',
    );
    expect(memory.git('log', '--format=%s').trim().split('\n')).toEqual([
      'memory: update preferences.md of global bank "general"',
      'memory: create global bank "general"',
    ]);
  },
);

describeDeep('with a model', () => {
  const topics = ['parser', 'ledger'];
  let endpoint: ModelEndpoint;
  let repo: Repo;

  /** A document of 20,000 bytes; two of them are more than one answer holds. */
  const long = (topic: string) => `# ${topic}\n\n${`The ${topic} has many parts. `.repeat(800)}\n`;

  const env = () => ({ MEMORY_BANK_CHAT_URL: endpoint.url, MEMORY_BANK_CHAT_MODEL: 'm' });

  async function fill(conversation: Conversation): Promise<Answer> {
    await conversation.call('activate', code);
    let last: Answer;
    for (const topic of topics) {
      last = await conversation.call('update', {
        ...code,
        target_file: `${topic}.md`,
        operation: 'replace',
        content: long(topic),
      });
    }
    return last?.answer;
  }

  beforeAll(async () => {
    endpoint = await ModelEndpoint.start();
  });

  afterAll(() => endpoint.stop());

  test('its summaries follow the built-in ones, and change no file', async () => {
    await endpoint.say({ content: 'What the model makes of it.' });
    repo = Repo.create();
    const conversation = new Conversation(repo.root, env());
    expect(await fill(conversation)).toMatchObject({ cache_updated: true, cache_optimized: true });
    const head = repo.git('rev-parse', 'HEAD');
    const summaries = async () => (await conversation.call('activate', code)).answer.summaries;
    await expect
      .poll(summaries, { timeout: 20_000 })
      .toMatchObject({ 'parser.md': 'What the model makes of it.' });
    const asked = JSON.stringify(await endpoint.requests());
    expect(
      asked.includes(JSON.stringify('{"file":"parser.md","text":"# parser').slice(1, -1)),
    ).toBe(true);
    await conversation.client.end();

    // It is kept: a later server that has no model answers with it.
    const later = new Conversation(repo.root);
    const { answer } = await later.call('activate', code);
    expect(answer.summaries['parser.md']).toBe('What the model makes of it.');
    await later.client.end();
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    expect(repo.status()).toEqual([]);
  });

  test('that never answers, neither an answer nor the end waits for it', async () => {
    await endpoint.say({ hang: true });
    const conversation = new Conversation(Repo.create().root, env());
    expect(await fill(conversation)).toMatchObject({ cache_updated: true });
    const { answer } = await conversation.call('activate', code);
    expect(answer.summaries['parser.md']).toContain('The parser has many parts.');
    await expect.poll(async () => (await endpoint.requests()).length).toBe(1);
    expect(await conversation.client.end()).toBe(0);
    expect(await endpoint.requests()).toHaveLength(1);
  });

  test('that fails, the built-in summaries stay and stderr says so once', async () => {
    await endpoint.say({ status: 400 });
    const conversation = new Conversation(Repo.create().root, env());
    await fill(conversation);
    const failures = () => conversation.client.err.match(/No summary of/g)?.length;
    await expect.poll(failures).toBe(1);
    const { answer } = await conversation.call('activate', code);
    expect(answer.summaries['parser.md']).toContain('The parser has many parts.');
    await conversation.client.end();
    expect(failures()).toBe(1);
    expect(conversation.client.err).not.toContain('secret');
  });
});
