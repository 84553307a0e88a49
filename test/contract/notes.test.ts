import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { main, newFolder, RawClient } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';

/** The texts of the answer to a call of a server in a folder. */
async function callIn(cwd: string, name: string, args: unknown): Promise<readonly string[]> {
  const client = new RawClient([main], { cwd }).initialize();
  const texts = await textsOf(client, 1, name, args);
  await client.end();
  return texts;
}

async function textsOf(client: RawClient, id: number, name: string, args: unknown) {
  const { result } = await client.call(id, name, args).answer(id);
  return result.content.map(({ text }: { text: string }) => text);
}

let shared: RawClient;
let calls = 0;
beforeAll(() => {
  shared = new RawClient([main], { cwd: Repo.create().root }).initialize();
});
afterAll(() => shared.end());

/** The texts of the answer to a call of the server of these tests. */
function call(name: string, args: unknown): Promise<readonly string[]> {
  calls += 1;
  return textsOf(shared, calls, name, args);
}

test.each([
  [
    'memory_write',
    { catgory: 'patterns', category: 'patterns', key: 'k', value: 'v' },
    '"catgory" (did you mean "category"?)',
  ],
  ['build_context', { feature_slug: 'x' }, '"feature_slug" (did you mean "feature_slugs"?)'],
  ['build_context', { featureSlugs: ['x'] }, '"featureSlugs" (did you mean "feature_slugs"?)'],
  ['memory_list', { zzzzzzzz: 1, include_timestamp: true }, '"zzzzzzzz", "include_timestamp" (did'],
])('an answer names the arguments that %s does not have: %j', async (name, args, expected) => {
  const [body = '', note, ...more] = await call(name, args);
  expect(JSON.parse(body)).toMatchObject({ success: true });
  expect(note).toContain(expected);
  expect(more).toEqual([]);
});

test('structured content, which many clients show in place of the texts, has the note as well', async () => {
  const { result: plain } = await shared.call(-1, 'memory_list').answer(-1);
  expect(plain.structuredContent).toEqual(JSON.parse(plain.content[0].text));
  const { result: noted } = await shared.call(-2, 'memory_list', { zzzz: 1 }).answer(-2);
  const [body, note] = noted.content;
  expect(noted.structuredContent).toEqual({
    ...JSON.parse(body.text),
    'memory-bank/note': note.text,
  });
});

test('a failed call names them as well', async () => {
  const [body = '', note] = await call('memory_write', {
    catgory: 'x',
    key: 'k',
    value: 'v',
  });
  expect(JSON.parse(body)).toMatchObject({ success: false });
  expect(note).toContain('"catgory" (did you mean "category"?)');
});

test.each([
  [{ category: 'patterns', key: 'k', value: '3', metadata: '{"a":1}', reason: null }],
  ['{"category":"patterns","key":"k","value":"3","metadata":{"a":1}}'],
])('an answer names what was repaired of %j', async (args) => {
  const [body = '', note, ...more] = await call('memory_write', args);
  expect(JSON.parse(body)).toMatchObject({ success: true });
  expect(note).toMatch(/^memory_write read arguments that do not fit its schema: .*read as an obj/);
  expect(more).toEqual([]);
  const [read = ''] = await call('memory_read', { category: 'patterns', limit: '1' });
  const [entry] = JSON.parse(read).entries;
  expect(entry).toMatchObject({ value: '3', metadata: { a: 1 } });
  expect(entry).not.toHaveProperty('reason');
});

test('a text is not a confirmation', async () => {
  const args = { category: 'decisions', key: 'k', value: 'v', confirm: 'true' };
  const [body = ''] = await call('memory_write', args);
  expect(JSON.parse(body)).toMatchObject({ error: 'confirmation_required' });
});

test.each(['memory_search', 'find_relevant_paths'])(
  'an empty answer of %s names the search over everything',
  async (name) => {
    const [, note] = await call(name, { query: 'nowhere' });
    expect(note).toBe('Nothing was found in these records; search_memory looks everywhere.');
  },
);

test('a weak answer of find_relevant_paths names the search over everything, a good one does not', async () => {
  const path = { path: 'src/a.ts', type: 'file', description: 'starts the program' };
  await call('create_paths', { paths: [path] });
  const [, note] = await call('find_relevant_paths', { query: 'program refunds taxes invoices' });
  expect(note).toBe('Few of the words are in these records; search_memory looks everywhere.');
  for (const query of ['starts the program', 'program start']) {
    expect(await call('find_relevant_paths', { query })).toHaveLength(1);
  }
});

test('a credential in the name of an argument does not come back', async () => {
  const key = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  const answer = await call('memory_list', { [key]: 1 });
  expect(answer.join()).toContain('ignored arguments');
  expect(answer.join()).not.toContain(key);
});

deep('a call of known arguments, and of a tool without any, has no note', async () => {
  expect(await call('memory_list', { include_timestamps: true })).toHaveLength(1);
  // Some clients send a dummy argument to a tool that has none.
  expect(await call('get_memory_bank_status', { random_string: 'x' })).toHaveLength(1);
});

deep('build_context says what to give when nothing was asked for', async () => {
  const [, note] = await call('build_context', {});
  expect(note).toContain('Give objective_slug, feature_slugs or both');
  const [, ...rest] = await call('build_context', { feature_slugs: ['x'] });
  expect(rest).toEqual([]);
});

deep('the first write outside of a repository says, once, that it created one', async () => {
  const cwd = newFolder();
  const write = { category: 'patterns', key: 'k', value: 'v' };
  const expected = `${cwd} was not in a git repository, so this change created one there`;
  const [body = '', note] = await callIn(cwd, 'memory_write', write);
  expect(JSON.parse(body)).toMatchObject({ success: true });
  expect(note).toContain(expected);
  expect(await callIn(cwd, 'memory_write', { ...write, value: 'w' })).toHaveLength(1);
});

deep.each([
  [['memory-write', '--category', 'patterns', '--key', 'k', '--value', 'v']],
  [['store-memory', '--type', 'rules', '--title', 't', '--content', 'c']],
  [['import', 'notes']],
])('so does the first command: %j', (args) => {
  const cwd = newFolder();
  const notes = '{"type":"entity","name":"n","entityType":"t","observations":["o"]}\n';
  mkdirSync(join(cwd, 'notes'));
  writeFileSync(join(cwd, 'notes/memory.jsonl'), notes);
  const { status, stdout, stderr } = runProgram(cwd, args, {
    env: { PATH: process.env.PATH, HOME: newFolder() },
  });
  expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
  expect(stdout + stderr).toContain(
    `${cwd} was not in a git repository, so this change created one`,
  );
});
