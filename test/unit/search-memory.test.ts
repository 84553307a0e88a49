import { beforeEach, expect, test } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { documents } from '../../src/toolsets/documents/toolset.ts';
import { searchPast } from '../../src/toolsets/history/as-of.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { knowledge } from '../../src/toolsets/knowledge/toolset.ts';
import { searchOver } from '../../src/toolsets/search/toolset.ts';
import { callsOf } from '../suites/call.ts';
import { TestContext } from '../support/context.ts';

const search = searchOver([documents, knowledge], searchPast);
let context: TestContext;

beforeEach(async () => {
  context = new TestContext({ ...search, records: [...documents.records, ...knowledge.records] });
  const store = callsOf(documents, context);
  await store('activate_project');
  await store('store_memory', {
    title: 'Auth design',
    type: 'design_doc',
    content: 'Tokens expire.',
  });
  await store('store_memory', { title: 'Rules', type: 'rules', content: 'No tokens in logs.' });
  const write = callsOf(knowledge, context);
  await write('memory_write', { category: 'patterns', key: 'tokens', value: 'kept in a cookie' });
});

async function find(args: object) {
  return (await callsOf(search, context)('search_memory', { query: 'tokens', ...args })).body;
}

test('finds records of every toolset and says where they are', async () => {
  const [first] = Object(await find({})).results;
  expect(first).toEqual({
    toolset: 'knowledge',
    record: 'knowledge-entry',
    category: 'patterns',
    key: 'patterns/tokens',
    title: 'tokens',
    path: 'knowledge/patterns/tokens.md',
    score: 1,
    matches: ['tokens'],
    snippet: expect.stringContaining('tokens'),
  });
  expect(await find({})).toMatchObject({ success: true, total: 3, truncated: false });
});

test.each([
  [{ toolset: 'documents' }, ['Auth design', 'Rules']],
  [{ toolset: 'knowledge' }, ['tokens']],
  [{ type: 'rules' }, ['Rules']],
  [{ type: 'test_plan' }, []],
  [{ type: 'knowledge-entry' }, ['tokens']],
  [{ category: 'patterns' }, ['tokens']],
  [{ category: 'decisions' }, []],
  [{ path: 'documents/design_doc/**' }, ['Auth design']],
  [{ path: 'documents/design_doc' }, ['Auth design']],
  [{ path: 'documents/design_doc/' }, ['Auth design']],
  [{ path: '.memory-bank/documents/design_doc/**' }, ['Auth design']],
  [{ path: './.memory-bank/documents/design_doc' }, ['Auth design']],
  [{ path: 'documents/*/' }, ['Auth design', 'Rules']],
  [{ path: 'documents/des' }, []],
  [{ path: '.memory-bank/' }, ['Auth design', 'Rules', 'tokens']],
  [{ path: '**/*.yaml' }, []],
])('keeps to %j', async (filter, titles) => {
  const { results } = await find(filter);
  expect(Array.isArray(results) && results.map((hit) => Object(hit).title).sort()).toEqual(titles);
});

test('takes what a result prints as a filter', async () => {
  const write = callsOf(knowledge, context);
  await write('memory_write', { category: 'patterns', key: 'tokens [old] *', value: 'x' });
  const { results } = Object(await find({}));
  for (const { toolset, record, type = record, category, path, title } of results) {
    const found = await find({ toolset, type, ...(category && { category }), path });
    expect(Object(found).results).toEqual([expect.objectContaining({ title, path })]);
  }
});

test.each([
  [{ type: 'nothing' }, /"nothing".*document, design_doc, .*rules, .*knowledge-entry/],
  [{ category: 'nothing' }, /"nothing".*user-preferences, project-learnings, .*protocol-state/],
  [{ type: 'rules', toolset: 'knowledge' }, /"rules".*are: knowledge-entry$/],
  [{ type: 'rules', category: 'patterns' }, /"patterns".*are: none$/],
])('lists what there is instead of finding nothing by %j', async (filter, message) => {
  expect(await find(filter)).toEqual({
    success: false,
    error: 'invalid_input',
    message: expect.stringMatching(message),
  });
});

test('says when there are more', async () => {
  expect(await find({ limit: 2 })).toMatchObject({ total: 3, truncated: true });
});

test('names what cannot be read', async () => {
  context.store.files.set('knowledge/patterns/tokens.md', 'no front matter');
  expect(await find({})).toMatchObject({
    total: 2,
    damaged: [{ path: 'knowledge/patterns/tokens.md' }],
  });
});

test.each([
  [{ query: '' }, 'query'],
  [{ query: '  ' }, 'query'],
  [{ query: 'x'.repeat(1_000_000) }, 'query'],
  [{ query: null }, 'query'],
  [{ toolset: 'nothing' }, 'toolset'],
  [{ limit: 0 }, 'limit'],
  [{ limit: -1 }, 'limit'],
  [{ path: 5 }, 'path'],
])('refuses case %# by name', async (args, named) => {
  expect(await find(args)).toEqual({
    success: false,
    error: 'invalid_input',
    message: expect.stringContaining(named),
  });
});

test('searches an earlier state with all other arguments', async () => {
  const asked: unknown[] = [];
  const past = searchOver([documents, knowledge], async (_, revision, request) => {
    asked.push([revision, request]);
    return { results: [] };
  });
  const args = { query: 'tokens', as_of: '2 days ago', toolset: 'knowledge', category: 'patterns' };
  const { body } = await callsOf(past, context)('search_memory', args);
  expect(body).toMatchObject({ success: true, results: [] });
  const request = { query: 'tokens', types: knowledge.records, categories: ['patterns'] };
  expect(asked).toEqual([['2 days ago', expect.objectContaining(request)]]);
});

test('has the memory of the user after that of the project, if its tools are served', async () => {
  const at = '2026-01-01T00:00:00.000Z';
  const entry = { category: 'patterns', key: 'mine', created_at: at, updated_at: at } as const;
  await context.homeStore.change({ subject: 'x' }, (transaction) =>
    transaction.put(entryRecord, { ...entry, value: 'Tokens are short.' }),
  );
  expect(await find({})).not.toHaveProperty('personal');
  context.offered = new Set(['search_memory', 'activate']);
  const found = Object(await find({}));
  expect(found.total).toBe(3);
  expect(found.personal.note).toContain('global banks of the user');
  expect(found.personal.results).toEqual([expect.objectContaining({ key: 'patterns/mine' })]);
  expect(await find({ offset: 1 })).not.toHaveProperty('personal');
  expect(await find({ toolset: 'documents' })).not.toHaveProperty('personal');
});

test('finds what the project has also if the memory of the user cannot be read', async () => {
  context.home = async () => {
    throw new MemoryError('damaged', 'config.yaml is not valid YAML');
  };
  expect(await find({})).toMatchObject({ total: 3 });
});
