import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import type { Session } from '../../../src/core/memory/session.ts';
import { pointsOf } from '../../../src/toolsets/memory-bank/file-points.ts';
import { tendPrompt } from '../../../src/toolsets/truth/tend-prompt.ts';
import { deep, sample } from '../../support/depth.ts';
import { projectApp } from '../../support/project-app.ts';
import { Repo } from '../../support/repo.ts';

let repo: Repo;
let app: App;
let session: Session;

beforeEach(() => {
  repo = Repo.create();
  repo.write('src/lock.ts', 'export function lock() {\n  wait();\n}\n');
  commit('Begin');
  app = projectApp(repo.root);
  session = app.connect({ isAgent: true });
  session.agent = 'tester/1.0';
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

function commit(message: string): void {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', message);
}

// biome-ignore lint/suspicious/noExplicitAny: answers of several tools
type Answer = any;

async function call(tool: string, args: object): Promise<Answer> {
  return (await app.call(session, tool, args))?.body;
}

const remember = (key: string, value: string, evidence?: string[]) =>
  call('memory_write', { category: 'patterns', key, value, ...(evidence && { evidence }) });
const read = async (key: string) =>
  (await call('memory_read', { category: 'patterns', key })).entries[0];

describe('verify_memory', () => {
  test('makes a record fresh again, which reading does not, and says when, where and by whom', async () => {
    expect(await remember('lock', 'It waits.', ['src/lock.ts:2'])).toMatchObject({ success: true });
    expect(await read('lock')).not.toHaveProperty('caution');
    repo.write('src/lock.ts', 'export function lock() {\n  await wait();\n}\n');
    commit('Wait');
    const caution = ['The text of src/lock.ts:2 was changed.'];
    expect(await read('lock')).toMatchObject({ caution });
    expect(await read('lock')).toMatchObject({ caution });
    const found = await call('memory_search', { query: 'waits' });
    expect(found.results[0]).toMatchObject({ key: 'lock', caution });
    expect((await call('search_memory', { query: 'waits' })).results[0]).toMatchObject({ caution });
    const path = 'knowledge/patterns/lock.md';
    const head = repo.git('rev-parse', '--short=12', 'HEAD').trim();
    expect(await call('verify_memory', { path })).toEqual({
      success: true,
      path,
      verified: { at: expect.stringMatching(/^\d{4}-/), commit: head, by: 'tester/1.0' },
      changed: [
        `The text of src/lock.ts:2 was changed, last by ${head} (Ada Lovelace <ada@example.org>: Wait).\n@@ -1,3 +1,3 @@\n export function lock() {\n-  wait();\n+  await wait();\n }`,
      ],
      evidence: ['src/lock.ts:2'],
    });
    expect(await call('verify_memory', { path })).not.toHaveProperty('changed');
    expect(await read('lock')).not.toHaveProperty('caution');
    expect(repo.read(`.memory-bank/${path}`)).toContain('by: tester/1.0');
    expect(repo.git('log', '-1', '--format=%s').trim()).toBe(`memory: verify ${path}`);
  });

  const forms = [
    'Wait',
    'decisionLog.md',
    'decisionLog.md#Wait',
    '.memory-bank/decisionLog.md#Wait',
  ];

  deep.each(sample(forms, 1))(
    'renews the evidence of a decision where it is, by %s, and once',
    async (path) => {
      const decide = (title: string, evidence: string[]) =>
        call('log_decision', { title, context: 'C', decision: 'D', evidence });
      await decide('Wait', ['src/lock.ts:1-3']);
      await decide('Other', []);
      const log = () => repo.read('.memory-bank/decisionLog.md');
      repo.write('src/lock.ts', repo.read('src/lock.ts').replace('wait()', 'await wait()'));
      commit('Wait for it');
      const cautions = async () =>
        (await call('search_memory', { query: 'Wait' })).results.map(
          (hit: { caution?: string[] }) => hit.caution,
        );
      const before = log();
      expect(await cautions()).toContainEqual([expect.stringContaining('was changed')]);
      expect(await call('verify_memory', { path })).toMatchObject({
        success: true,
        changed: [expect.stringContaining('src/lock.ts:1-3 was changed')],
        evidence: ['src/lock.ts:1-3'],
      });
      const lines = (text: string) => text.split('\n');
      const differing = lines(log()).filter((line, i) => line !== lines(before)[i]);
      expect(differing).toEqual([expect.stringMatching(/^- `src\/lock.ts:1-3` <!-- .* -->$/)]);
      expect(lines(log())).toHaveLength(lines(before).length);
      expect((await cautions()).filter((one: unknown) => one)).toEqual([]);
      const head = repo.git('rev-parse', 'HEAD');
      expect(await call('verify_memory', { path })).not.toHaveProperty('changed');
      expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    },
  );

  test('removes the evidence that an earlier version has repeated in the front matter', async () => {
    const evidence = ['src/lock.ts:1-3'];
    await call('log_decision', { title: 'Wait', context: 'C', decision: 'D', evidence });
    const path = '.memory-bank/decisionLog.md';
    const text = repo.read(path);
    const [, fingerprint] = /<!-- (.*) -->/.exec(text) ?? [];
    const line = `  - src/lock.ts:1-3 ${fingerprint}\n`;
    repo.write(path, `---\nevidence:\n${line}${line}---\n${text}`);
    commit('As it was written before');
    await call('verify_memory', { path: 'decisionLog.md' });
    expect(repo.read(path)).not.toContain('  - src/lock.ts');
    expect(repo.read(path)).toContain(text);
  });

  deep('refuses a record whose code is gone until it gets other evidence', async () => {
    await remember('lock', 'It waits.', ['src/lock.ts#lock']);
    repo.git('rm', '-q', 'src/lock.ts');
    commit('Remove the lock');
    const path = 'knowledge/patterns/lock.md';
    const refused = await call('verify_memory', { path });
    expect(refused).toMatchObject({ success: false, error: 'invalid_input' });
    expect(refused.message).toContain('src/lock.ts#lock was removed');
    expect(await call('verify_memory', { path, evidence: ['src/none.ts'] })).toMatchObject({
      success: false,
    });
    expect(await call('verify_memory', { path, evidence: [] })).not.toHaveProperty('evidence');
    expect(await read('lock')).not.toHaveProperty('caution');
  });

  test('marks the record that another one replaces, and names the records that link to it', async () => {
    const [old, now] = ['knowledge/patterns/old.md', 'knowledge/patterns/new.md'];
    await remember('old', 'Poll the lock.');
    await remember('new', 'Wait for the lock.');
    await remember('user', `Follows ${old}.`);
    const before = repo.git('rev-list', '--count', 'HEAD');
    const answer = await call('verify_memory', { path: now, supersedes: [`.memory-bank/${old}`] });
    expect(answer).toEqual({
      success: true,
      path: now,
      supersedes: [old],
      linked: ['knowledge/patterns/user.md'],
    });
    expect(Number(repo.git('rev-list', '--count', 'HEAD'))).toBe(Number(before) + 1);
    expect(repo.read(`.memory-bank/${old}`)).toContain(`superseded_by: ${now}`);
    expect((await read('old')).caution).toEqual([`Superseded by ${now}.`]);
    expect((await read('user')).caution).toEqual([`It names ${old}, which ${now} supersedes.`]);
    expect(await read('new')).not.toHaveProperty('caution');
    expect(await call('verify_memory', { path: old, supersedes: [now] })).toMatchObject({
      error: 'invalid_input',
    });
    expect(
      await call('verify_memory', { path: now, supersedes: ['knowledge/x.md'] }),
    ).toMatchObject({ error: 'not_found' });
    const missing = await call('verify_memory', { path: 'knowledge/x.md' });
    expect(missing).toMatchObject({ error: 'not_found' });
    expect(missing).toEqual(
      await call('verify_memory', { path: 'knowledge/x.md', status: 'fact' }),
    );
  });

  deep('names the records of the graph that depend on a superseded one by its key', async () => {
    const features = ['old', 'new'].map((slug) => ({ slug, name: slug }));
    await call('create_features', { features });
    const requirements = [{ text: 'It waits.' }];
    const made = await call('create_requirements', { feature_slug: 'old', requirements });
    await call('create_objective', { slug: 'goal', name: 'Goal' });
    await call('link_objective_to_features', { objective_slug: 'goal', feature_slugs: ['old'] });
    const [old, now] = ['graph/features/old.yaml', 'graph/features/new.yaml'];
    const { linked } = await call('verify_memory', { path: now, supersedes: [old] });
    expect(linked).toEqual(['graph/objectives/goal.yaml', 'graph/requirements/old/it-waits.yaml']);
    const caution = [`It names ${old}, which ${now} supersedes.`];
    expect((await call('get_objective', { slug: 'goal' })).data.objective).toMatchObject({
      caution,
    });
    const { id } = made.data.requirements[0];
    expect((await call('get_requirement', { id })).data.requirement).toMatchObject({ caution });
    await call('link_objective_to_features', { objective_slug: 'goal', feature_slugs: ['new'] });
    await call('unlink_objective_from_feature', { objective_slug: 'goal', feature_slug: 'old' });
    const { objective } = (await call('get_objective', { slug: 'goal' })).data;
    expect(objective).not.toHaveProperty('caution');
  });

  deep('sets a date and a status of markdown without front matter, and of YAML', async () => {
    await call('write_memory_bank_file', { filename: 'notes.md', content: '# Notes\n' });
    await call('create_features', { features: [{ slug: 'a', name: 'A', description: 'A.' }] });
    const args = { expires: '2026-01-31', status: 'inference' };
    for (const path of ['notes.md', 'graph/features/a.yaml']) {
      expect(await call('verify_memory', { path, ...args })).toEqual({
        success: true,
        path,
        ...args,
      });
    }
    expect(repo.read('.memory-bank/notes.md')).toBe(
      '---\nexpires: "2026-01-31"\nclaim: inference\n---\n# Notes\n',
    );
    expect(await call('verify_memory', { path: 'notes.md', expires: 'soon' })).toMatchObject({
      error: 'invalid_input',
    });
  });
});

describe('the writes of the other toolsets', () => {
  deep('take evidence, and refuse it in their own words', async () => {
    const evidence = ['src/lock.ts:1-3'];
    const hash = '3-[0-9a-f]{16}';
    await call('activate_project', {});
    const document = { title: 'Locks', type: 'rules', content: 'A rule.' };
    const { memory_id } = await call('store_memory', { ...document, evidence });
    await call('update_memory', { memory_id, content: 'A new rule.', evidence });
    const decision = { title: 'Wait', context: 'Two writers.', decision: 'Wait for the lock.' };
    expect(await call('log_decision', { ...decision, evidence })).toEqual({
      status: 'success',
      message: 'Decision logged successfully',
    });
    expect(repo.read('.memory-bank/decisionLog.md')).toMatch(
      new RegExp(`### Evidence\n\n- \`src/lock.ts:1-3\` <!-- ${hash} -->\n`),
    );
    await call('create_features', { features: [{ slug: 'a', name: 'A', description: 'A.' }] });
    const requirements = [{ text: 'Wait.', evidence }];
    const created = await call('create_requirements', { feature_slug: 'a', requirements });
    expect(created.data?.requirements?.[0] ?? created.requirements?.[0]).not.toHaveProperty(
      'evidence',
    );
    const files = repo.git('grep', '-lE', hash, '--', '.memory-bank').trim().split('\n');
    expect(files).toHaveLength(3);
    repo.write('src/lock.ts', '\n');
    commit('Empty the lock');
    expect((await call('get_memory', { memory_id })).memory.caution).toHaveLength(1);
    const head = repo.git('rev-parse', 'HEAD');
    const bad = { evidence: ['../x'] };
    expect(await call('store_memory', { ...document, ...bad })).toEqual({ error: 'invalid_json' });
    expect(await call('log_decision', { ...decision, ...bad })).toMatchObject({
      status: 'error',
      error: { code: 'invalid_request' },
    });
    const wrong = { feature_slug: 'a', requirements: [{ text: 'Wait.', ...bad }] };
    expect(JSON.stringify(await call('create_requirements', wrong))).toMatch(
      /requirements.*evidence.*relative to the project/,
    );
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  });
});

describe('a decision that replaces an earlier one of the log', () => {
  const decide = (title: string, supersedes?: string[]) =>
    call('log_decision', {
      title,
      context: 'Two servers write.',
      decision: `${title} it is.`,
      ...(title === 'Poll' && { consequences: ['Ninety seconds.'] }),
      ...(supersedes && { supersedes }),
    });
  const log = () => repo.read('.memory-bank/decisionLog.md');

  test('says so in the commit that logs it, and the records that link to the old one are named', async () => {
    await decide('Poll');
    const today = /## Poll - (\S+)/.exec(log())?.[1];
    await remember('user', `See decisionLog.md#poll---${today}.`);
    const before = Number(repo.git('rev-list', '--count', 'HEAD'));
    expect(await decide('Wait', ['poll'])).toEqual({
      status: 'success',
      message: 'Decision logged successfully',
      linked: ['knowledge/patterns/user.md'],
    });
    expect(Number(repo.git('rev-list', '--count', 'HEAD'))).toBe(before + 1);
    expect(log()).toContain(`Superseded by [Wait - ${today}](#wait---${today})`);
    expect(log()).toContain(`Supersedes [Poll - ${today}](#poll---${today})`);
    expect((await read('user')).caution).toEqual([
      `It names decisionLog.md#Poll - ${today}, which decisionLog.md#Wait - ${today} supersedes.`,
    ]);
    const { results } = await call('search_memory', { query: 'ninety seconds' });
    const hit = results.find(({ path }: Answer) => path === 'decisionLog.md');
    expect(hit.section).toBe(`Decision Log > Poll - ${today}`);
    expect(hit.caution).toEqual([
      `Its section "Decision Log > Poll - ${today}" was superseded by decisionLog.md#Wait - ${today}.`,
    ]);
    // A brief names only decisions that hold.
    const points = pointsOf({ path: 'decisionLog.md', content: log() });
    expect(points.map(({ text }) => text)).toEqual(['Wait: Wait it is.']);
  });

  deep('is refused if there is no such decision, and nothing is written', async () => {
    await decide('Poll');
    const head = repo.git('rev-parse', 'HEAD');
    const refused = await decide('Wait', ['Sleep']);
    expect(refused).toMatchObject({ status: 'error', error: { code: 'file_not_found' } });
    expect(refused.error.message).toMatch(
      /decisionLog\.md has no section "Sleep".*Decision Log > Poll/,
    );
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  });

  deep('can be marked later, by verify_memory, also across records', async () => {
    await decide('Poll');
    await decide('Wait');
    const today = /## Poll - (\S+)/.exec(log())?.[1];
    const [poll, wait] = [`decisionLog.md#Poll - ${today}`, `decisionLog.md#Wait - ${today}`];
    const path = 'decisionLog.md#wait';
    expect(await call('verify_memory', { path, supersedes: ['decisionLog.md#poll'] })).toEqual({
      success: true,
      path,
      supersedes: [poll],
    });
    expect(await call('verify_memory', { path: poll, supersedes: [wait] })).toMatchObject({
      error: 'invalid_input',
    });
    const before = repo.git('rev-parse', 'HEAD');
    expect(await call('verify_memory', { path })).toMatchObject({ success: true });
    expect(repo.git('rev-parse', 'HEAD')).toBe(before);
    await remember('rule', 'Sleep.');
    const rule = 'knowledge/patterns/rule.md';
    await call('verify_memory', { path: rule, supersedes: [wait] });
    expect(log()).toContain(`Superseded by [${rule}](${rule})`);
    expect(repo.read(`.memory-bank/${rule}`)).toContain(`- "${wait}"`.replaceAll('"', ''));
    await call('verify_memory', { path: rule, supersedes: [] });
    expect(log()).not.toContain(rule);
  });
});

deep('the prompt tend-memory is a worklist of everything that was found, on a branch', async () => {
  const text = () => app.run(session, 'prompts/get', {}, (context) => tendPrompt.text(context));
  const items = async () =>
    (await text())
      .split('\n')
      .filter((line) => line.startsWith('- [ ] ') || line.startsWith('    '));
  const path = (key: string) => `knowledge/patterns/${key}.md`;
  expect(await text()).toBe('The memory needs no work: nothing outdated was found.');
  // Stale, with the change of the code; and a relative date.
  await remember('lock', 'It waits, since last week.', ['src/lock.ts:2']);
  repo.write('src/lock.ts', 'export function lock() {\n  sleep();\n}\n');
  commit('Sleep');
  const head = repo.git('rev-parse', '--short=12', 'HEAD').trim();
  // Large.
  await remember('large', 'A long line of text.\n'.repeat(2000));
  expect(await items()).toEqual([
    expect.stringMatching(/^- \[ \] knowledge\/patterns\/large\.md: It has \d+ bytes: split it\.$/),
    `- [ ] ${path('lock')}: The text of src/lock.ts:2 was changed, last by ${head} (Ada Lovelace <ada@example.org>: Sleep). It says "last week", which depends on the day of reading: write the date.`,
    ...['@@ -1,3 +1,3 @@', ' export function lock() {', '-  wait();', '+  sleep();', ' }'].map(
      (line) => `      ${line}`,
    ),
  ]);
  // Similar and expired.
  const value = 'Take the lock before the index is read, and release it after the ref was written.';
  await remember('order', value);
  await remember('order-again', `${value} Always.`);
  await call('verify_memory', { path: path('order'), expires: '2020-01-01' });
  expect(await text()).toMatch(
    /order\.md: It expired on 2020-01-01\. It says nearly the same as \S+order-again\.md \(\d\d%\)\./,
  );
  // Contradictory: two records replace one, and a third one still names it.
  await remember('rival', 'Take no lock.');
  await remember('user', `As in ${path('order')}.`);
  for (const key of ['rival', 'order-again']) {
    await call('verify_memory', { path: path(key), supersedes: [path('order')] });
  }
  const contradictory = await text();
  expect(contradictory).toContain(
    `- [ ] ${path('rival')}: It supersedes ${path('order')}, as ${path('order-again')} does.`,
  );
  expect(contradictory).toContain(
    `- [ ] ${path('user')}: It names ${path('order')}, which ${path('order-again')} supersedes.`,
  );
  expect(contradictory).not.toContain(`- [ ] ${path('order')}:`);
  // The work is done on a branch, which a person reviews.
  expect(contradictory).toMatch(
    /create and check out the branch memory\/tend first, and do not merge/,
  );
  expect(contradictory).toMatch(/a person can review the result as a pull request/);
  // What was mended is not in the list.
  await call('verify_memory', { path: path('rival'), supersedes: [] });
  await call('verify_memory', { path: path('lock') });
  await call('memory_delete', { category: 'patterns', key: 'user', confirm: true });
  await call('memory_delete', { category: 'patterns', key: 'large', confirm: true });
  expect(await items()).toEqual([expect.stringMatching(/lock\.md: It says "last week"/)]);
});

deep('the worklist of tend-memory names at most 40 records', async () => {
  for (let i = 0; i < 45; i++) await remember(`r${i}`, `Number ${i}, since last week: topic${i}.`);
  const text = await app.run(session, 'prompts/get', {}, (context) => tendPrompt.text(context));
  expect(text.match(/^- \[ \] /gm)).toHaveLength(40);
  expect(text).toContain('- And 5 more: call this prompt again when these are done.');
});
