import { beforeEach, describe, expect, test } from 'vitest';
import { deep, open } from './open.ts';

let { context, call, write } = open();

beforeEach(() => {
  ({ context, call, write } = open());
});

describe('bad input', () => {
  const entry = { category: 'patterns', key: 'k', value: 'v' };
  test.each([
    ['memory_write', { ...entry, category: 'bogus' }, 'category'],
    ['memory_write', { ...entry, category: '__proto__' }, 'category'],
    ['memory_write', { ...entry, category: 5 }, 'category'],
    ['memory_write', { key: 'k', value: 'v' }, 'category'],
    ['memory_write', { ...entry, key: '' }, 'key'],
    ['memory_write', { ...entry, key: null }, 'key'],
    ['memory_write', { ...entry, key: 'x'.repeat(1_000_000) }, 'key'],
    ['memory_write', { category: 'patterns', value: 'v' }, 'key'],
    ['memory_write', { category: 'patterns', key: 'k' }, 'value'],
    ['memory_write', { ...entry, value: null }, 'value'],
    ['memory_write', { ...entry, value: { a: 1 } }, 'value'],
    ['memory_write', { ...entry, reason: null }, 'reason'],
    ['memory_write', { ...entry, context: 5 }, 'context'],
    ['memory_write', { ...entry, metadata: [] }, 'metadata'],
    ['memory_write', { ...entry, metadata: 'x' }, 'metadata'],
    ['memory_write', { ...entry, metadata: null }, 'metadata'],
    ['memory_write', { ...entry, metadata: deep(32) }, 'metadata'],
    ['memory_write', [], 'object'],
    ['memory_write', null, ''],
    ['memory_read', { category: 'bogus' }, 'category'],
    ['memory_read', { key: '' }, 'key'],
    ['memory_read', { limit: 0 }, 'limit'],
    ['memory_read', { limit: -1 }, 'limit'],
    ['memory_read', { limit: 1.5 }, 'limit'],
    ['memory_read', { limit: '5' }, 'limit'],
    ['memory_read', { limit: null }, 'limit'],
    ['memory_search', {}, 'query'],
    ['memory_search', { query: '' }, 'query'],
    ['memory_search', { query: ' \n\t' }, 'query'],
    ['memory_search', { query: 'x'.repeat(1_000_000) }, 'query'],
    ['memory_search', { query: 'x', categories: ['patterns', 'bogus'] }, 'categories[1]'],
    ['memory_search', { query: 'x', categories: 'patterns' }, 'categories'],
    ['memory_search', { query: 'x', limit: 0 }, 'limit'],
    ['memory_search', { query: 'x', limit: 1001 }, 'limit'],
    ['memory_search', { query: 'x', fuzzy: 'no' }, 'fuzzy'],
    ['memory_list', { category: 'bogus' }, 'category'],
    ['memory_list', { include_timestamps: 'yes' }, 'include_timestamps'],
    ['memory_delete', { category: 'bogus', key: 'k', confirm: true }, 'category'],
    ['memory_delete', { category: 'patterns', key: '', confirm: true }, 'key'],
    ['memory_prune', { max_age_days: -1 }, 'max_age_days'],
    ['memory_prune', { max_entries: -1 }, 'max_entries'],
    ['memory_prune', { max_entries: 1.5 }, 'max_entries'],
    ['memory_prune', { dry_run: 'false', confirm: true }, 'dry_run'],
  ])('%s names what is wrong in case %#', async (tool, args, named) => {
    await write('k', { value: 'kept' });
    expect(await call(tool, args)).toEqual({
      body: {
        success: false,
        error: 'invalid_input',
        message: expect.stringContaining(named),
      },
      isError: true,
    });
    expect(context.store.commits).toHaveLength(1);
  });

  test('regular expressions are text', async () => {
    await write('k', { value: 'a.*(b' });
    const query = async (query: string) =>
      (await call('memory_search', { query, fuzzy: false })).body;
    expect((await query('.*(')).results).toMatchObject([{ key: 'k', matches: ['.*('] }]);
    expect((await query('a.*b')).results).toEqual([]);
  });
});

test('a damaged entry fails alone, by name, and stays as it is', async () => {
  await write('good');
  await write('bad');
  await write('other', { category: 'corrections' });
  const path = 'knowledge/patterns/bad.md';
  const broken = '---\n<<<<<<< HEAD\n---\n';
  context.store.files.set(path, broken);
  const commits = context.store.commits.length;
  const bad = { category: 'patterns', key: 'bad' };
  for (const [tool, args] of [
    ['memory_read', bad],
    ['memory_write', { ...bad, value: 'new' }],
    ['memory_delete', { ...bad, confirm: true }],
  ] as const) {
    expect(await call(tool, args)).toMatchObject({
      body: { success: false, error: 'damaged', message: expect.stringContaining(path) },
      isError: true,
    });
  }
  const damaged = [{ path, message: expect.stringContaining(path) }];
  expect((await call('memory_read', { category: 'patterns' })).body).toMatchObject({
    entries: [{ key: 'good' }],
    damaged,
  });
  expect((await call('memory_read', { category: 'corrections' })).body).not.toHaveProperty(
    'damaged',
  );
  expect((await call('memory_read', { key: 'other' })).body).toMatchObject({
    entries: [{ category: 'corrections' }],
    damaged,
  });
  expect((await call('memory_list')).body).toMatchObject({ damaged });
  expect((await call('memory_search', { query: 'good' })).body).toMatchObject({
    results: [{ key: 'good' }],
    damaged,
  });
  const prune = { max_entries: 0, dry_run: false, confirm: true };
  expect((await call('memory_prune', prune)).body).toMatchObject({ total: 2, damaged });
  expect(context.store.commits).toHaveLength(commits + 1);
  expect(context.store.files.get(path)).toBe(broken);
});
