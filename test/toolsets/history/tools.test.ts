import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject, type JsonObject, type JsonValue } from '../../../src/core/values/json.ts';
import { history } from '../../../src/toolsets/history/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';
import { deep } from '../../support/depth.ts';
import { letter, note } from '../../support/note.ts';
import { type Opened, open } from '../../support/open.ts';
import { Repo } from '../../support/repo.ts';

const bank = '.memory-bank';
const budget = 20_000;
let repo: Repo;
let opened: Opened;

beforeAll(async () => {
  repo = Repo.create();
  opened = await open(repo.root, [note, letter]);
});

afterAll(async () => {
  await opened.workspace.close();
  repo.remove();
});

/** An answer; it may be no longer than its list and a little around it. */
async function call(name: string, args: object = {}): Promise<JsonObject> {
  const context = Object.assign(new TestContext(history), { history: opened.call.history });
  const { body, isError } = await callTool(history, context, name, args);
  expect({ isError, body }).toMatchObject({ isError: false });
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(1.5 * budget);
  return body;
}

async function refused(name: string, args: object): Promise<JsonObject> {
  const context = Object.assign(new TestContext(history), { history: opened.call.history });
  const { body, isError } = await callTool(history, context, name, args);
  expect(isError).toBe(true);
  return body;
}

function items(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.flatMap((item) => (isObject(item) ? [item] : [])) : [];
}

/** All items of a list that is told page by page. */
async function pages(
  name: string,
  args: object,
  list: string,
  next = 'next_skip',
): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (let at: JsonValue | undefined = 0; at !== undefined; ) {
    const body = await call(name, { ...args, [next.slice('next_'.length)]: at });
    found.push(...items(body[list]));
    at = body[next];
  }
  return found;
}

const put = (key: string, text: string, reason?: string) =>
  opened.call.store.change({ subject: `write ${key}`, ...(reason && { reason }) }, (tx) =>
    tx.put(note, { key, text, tags: [] }),
  );

function commit(files: { readonly [path: string]: string }, message = 'By hand'): string {
  for (const [path, text] of Object.entries(files)) repo.write(`${bank}/${path}`, text);
  return repo.commitAll(message);
}

const noteFile = (key: string, text = 'x') => `key: ${key}\ntags: []\ntext: ${text}\n`;
const notes = (count: number, folder: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `notes/${folder}/n${i}.yaml`,
      noteFile(`${folder}${i}`),
    ]),
  );

describe('record_history', () => {
  test('pages through more than one answer holds', async () => {
    const reason = 'Because of much that was said. '.repeat(100);
    for (let i = 0; i < 40; i++) await put('paged', `text ${i}`, reason);
    const args = { path: 'notes/paged.yaml', limit: 200 };
    const first = await call('record_history', args);
    expect(first).toMatchObject({ total: 40, next_skip: expect.any(Number) });
    expect(items(first.commits)[0]?.reason).toHaveLength(601);
    const all = await pages('record_history', args, 'commits');
    const native = repo.git('log', '--format=%H', '--', `${bank}/notes/paged.yaml`);
    expect(all.map((one) => one.commit)).toEqual(
      native
        .split('\n')
        .filter(Boolean)
        .map((oid) => oid.slice(0, 12)),
    );
    expect(items((await call('record_history', { limit: 3 })).commits)).toHaveLength(3);
  });

  test('names the first records of a commit of many, and cuts what a person wrote at length', async () => {
    commit(notes(30, 'many'), `${'word '.repeat(1000)}\n\nMemory-Agent: ${'x'.repeat(5000)}`);
    const [told] = items((await call('record_history', { path: 'notes/many' })).commits);
    expect(items(told?.changes)).toHaveLength(10);
    expect(told).toMatchObject({ more_changes: 20 });
    expect(told?.subject).toHaveLength(601);
    expect(told?.agent).toHaveLength(601);
  });

  test.each([{ limit: 0 }, { limit: 201 }, { skip: -1 }, { revision: '' }, { path: '' }])(
    'refuses %j',
    async (args) => {
      expect(await refused('record_history', args)).toMatchObject({ error: 'invalid_input' });
    },
  );
});

describe('read_as_of', () => {
  test('gives a long text in pieces', async () => {
    const text = noteFile('long', `|\n${'  A line of the text.\n'.repeat(3000)}`);
    commit({ 'notes/long.yaml': text });
    const args = { path: 'notes/long.yaml', revision: 'HEAD' };
    let read = '';
    for (let offset: JsonValue | undefined = 0; offset !== undefined; ) {
      const body = await call('read_as_of', { ...args, offset });
      read += body.text;
      offset = body.next_offset;
    }
    expect(read).toBe(repo.read(`${bank}/notes/long.yaml`));
    expect(await call('read_as_of', { ...args, offset: 1e6 })).toMatchObject({ text: '' });
  });

  test('gives one section of a text, in the form that a search names it', async () => {
    const body = '# Log\n\n## Database\n\nMySQL\n\nQueue\n-----\n\nRedis\n';
    const path = 'letters/log.md';
    commit({ [path]: `---\nid: log\ntitle: Log\n---\n${body}` });
    commit({ [path]: `---\nid: log\ntitle: Log\n---\n${body.replace('MySQL', 'Postgres')}` });
    const read = async (revision: string, section: string) =>
      (await call('read_as_of', { revision, path, section })).text;
    expect(await read('HEAD~1', 'Log > Database')).toBe('## Database\n\nMySQL\n\n');
    expect(await read('HEAD', 'database')).toBe('## Database\n\nPostgres\n\n');
    expect(await read('HEAD', 'queue')).toBe('Queue\n-----\n\nRedis\n');
    const refusal = await refused('read_as_of', { revision: 'HEAD', path, section: 'None' });
    expect(JSON.stringify(refusal)).toContain('Log > Database');
  });

  deep('lists many records in pieces, and damaged ones by name', async () => {
    commit({ ...notes(450, 'listed'), 'notes/listed/broken.yaml': 'key: [' });
    const args = { path: 'notes/listed', revision: 'HEAD' };
    const all = await pages('read_as_of', args, 'records', 'next_offset');
    expect(new Set(all.map(({ path }) => path)).size).toBe(451);
    expect(all).toHaveLength(451);
    expect(all.find(({ path }) => path === 'notes/listed/broken.yaml')).toMatchObject({
      damaged: expect.stringContaining('broken.yaml'),
    });
  });
});

test('search_as_of finds what there was, and says when there is more', async () => {
  const old = commit({ 'notes/otter.yaml': noteFile('otter', 'an otter swims') });
  commit({ 'notes/otter.yaml': noteFile('otter', 'a badger digs') });
  expect(await call('search_as_of', { revision: old, query: 'otter swims' })).toMatchObject({
    as_of: { commit: old.slice(0, 12) },
    results: [{ path: 'notes/otter.yaml' }],
    total: 1,
    truncated: false,
  });
  expect(
    await call('search_as_of', { revision: old, query: 'otter', explain: true }),
  ).toMatchObject({ results: [{ explain: { words: [{ asked: 'otter' }] } }] });
  const long = 'wolverine '.repeat(60);
  const many = Array.from({ length: 200 }, (_, i) => [
    `notes/w/${i}.yaml`,
    noteFile(`w${i}`, long),
  ]);
  commit(Object.fromEntries(many));
  const found = await call('search_as_of', { revision: 'HEAD', query: 'wolverine', limit: 200 });
  expect(found).toMatchObject({ total: 200, truncated: true });
  expect(await refused('search_as_of', { revision: 'HEAD', query: ' ' })).toMatchObject({
    error: 'invalid_input',
  });
});

describe('diff_memory', () => {
  test('pages through many changes', async () => {
    const from = repo.git('rev-parse', 'HEAD').trim();
    commit(notes(250, 'differ'));
    const args = { from, limit: 100, path: 'notes/differ' };
    expect(await call('diff_memory', args)).toMatchObject({ added: 250, total: 250 });
    const all = await pages('diff_memory', args, 'changes');
    expect(new Set(all.map(({ path }) => path)).size).toBe(250);
  });

  deep('cuts what is long and says how much is left', async () => {
    const text = (word: string) => `|\n${`  ${word} is said here.\n`.repeat(2000)}`;
    commit({ 'notes/cut.yaml': noteFile('cut', text('This')) });
    const tags = Array.from({ length: 2000 }, (_, i) => `  - tag ${i} of many`);
    const yaml = noteFile('cut', text('That')).replace('tags: []', `tags:\n${tags.join('\n')}`);
    commit({ 'notes/cut.yaml': yaml });
    const [change] = items((await call('diff_memory', { from: 'HEAD~1' })).changes);
    const [list, diff] = items(change?.fields);
    expect(list).toMatchObject({ field: 'tags', removed: [] });
    const added = Array.isArray(list?.added) ? list.added : [];
    expect(added.at(-1)).toBe(`… (${2000 - added.length + 1} more)`);
    expect(diff).toMatchObject({ field: 'text' });
    expect(String(diff?.diff)).toMatch(/\n… \(\d+ more characters\)\n$/);
  });
});

describe('restore_memory', () => {
  test('of everything wants to be confirmed', async () => {
    const head = repo.git('rev-parse', 'HEAD');
    expect(await refused('restore_memory', { revision: 'HEAD~1' })).toMatchObject({
      error: 'confirmation_required',
      requires_confirmation: true,
    });
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  });

  deep('names the later commits whose changes it takes back, and no others', async () => {
    const before = repo.git('rev-parse', 'HEAD').trim();
    const commitNote = (name: string, key: string, text: string) => {
      repo.write(`${bank}/notes/${key}.yaml`, `key: ${key}\ntags: []\ntext: ${text}\n`);
      repo.git('add', '.');
      repo.git('commit', '-qm', name);
      return repo.git('rev-parse', 'HEAD').trim();
    };
    const old = commitNote('Begin it', 'undone', 'one');
    const later = [
      commitNote('Change it', 'undone', 'two'),
      commitNote('Change another', 'another', 'one'),
      commitNote('Change it again', 'undone', 'three'),
    ].map((oid) => oid.slice(0, 12));
    const restored = await call('restore_memory', { path: 'notes/undone.yaml', revision: old });
    expect(restored).toMatchObject({ changed: 1, undone_commits: 2 });
    expect(items(restored.undone)).toHaveLength(2);
    expect(items(restored.undone)).toEqual(
      expect.arrayContaining([
        { commit: later[2], author: expect.stringContaining('<'), subject: 'Change it again' },
        { commit: later[0], author: expect.stringContaining('<'), subject: 'Change it' },
      ]),
    );
    const again = await call('restore_memory', { path: 'notes/undone.yaml', revision: old });
    expect(again).not.toHaveProperty('undone');
    repo.git('reset', '-q', '--hard', before);
  });

  deep('names the first of many records and counts all of them', async () => {
    commit(notes(150, 'back'));
    repo.git('rm', '-rq', `${bank}/notes/back`);
    repo.git('commit', '-qm', 'Remove them');
    const restored = await call('restore_memory', { path: 'notes/back', revision: 'HEAD~1' });
    expect(restored).toMatchObject({ changed: 150, removed: [] });
    expect(restored.restored).toHaveLength(100);
    expect(repo.status()).toEqual([]);
    const again = await call('restore_memory', { path: 'notes/back', revision: 'HEAD~2' });
    expect(again).toMatchObject({ changed: 0 });
  });
});

deep('list_branches pages through the branches, the current one first', async () => {
  for (let i = 0; i < 30; i++) repo.git('branch', `branch-${i}`, 'HEAD~5');
  const first = await call('list_branches', { limit: 10 });
  expect(first).toMatchObject({ total: 31, next_skip: expect.any(Number) });
  expect(items(first.branches)[0]).toMatchObject({ name: 'main', current: true, ahead: 0 });
  expect(items(first.branches)[1]).toMatchObject({
    current: false,
    more_changes: expect.any(Number),
  });
  const all = await pages('list_branches', { limit: 10 }, 'branches');
  expect(new Set(all.map(({ name }) => name)).size).toBe(31);
});

deep('blame_record gives the lines in pieces, each with its commit', async () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `line ${i} of a long letter\n`);
  const file = (body: string) => `---\nid: b\ntitle: B\n---\n${body}`;
  const first = commit({ 'letters/b.md': file(lines.join('')) });
  lines[1] = `${'wide '.repeat(10_000)}\n`;
  const second = commit({ 'letters/b.md': file(lines.join('')) });
  const args = { path: 'letters/b.md', lines: 1000 };
  const body = await call('blame_record', args);
  expect(body).toMatchObject({ total_lines: 3004, next_line: expect.any(Number) });
  const all: JsonObject[] = [];
  for (let at: JsonValue | undefined = 1; at !== undefined; ) {
    const part = await call('blame_record', { ...args, first_line: at });
    for (const stretch of items(part.blame)) {
      all.push(stretch);
      expect(part.commits).toHaveProperty(String(stretch.commit));
    }
    at = part.next_line;
  }
  let next = 1;
  for (const { from, to } of all) {
    expect(from).toBe(next);
    next = Number(to) + 1;
  }
  expect(next).toBe(3005);
  const wide = all.find(({ from }) => from === 6);
  expect(wide).toMatchObject({ to: 6, commit: second.slice(0, 12) });
  expect(wide?.text).toMatch(/… \(\d+ more characters\)\n$/);
  expect(all[0]).toMatchObject({ from: 1, to: 5, commit: first.slice(0, 12) });
});
