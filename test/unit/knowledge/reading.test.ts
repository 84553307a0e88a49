import { beforeEach, describe, expect, test } from 'vitest';
import { SearchIndex } from '../../../src/store/search/index.ts';
import { entryRecord } from '../../../src/toolsets/knowledge/entry.ts';
import { open } from './open.ts';

let { call, write } = open();

beforeEach(() => {
  ({ call, write } = open());
});

describe('reading', () => {
  test('goes by the table of categories, then by creation', async () => {
    await write('z', { category: 'corrections' });
    await write('b');
    await write('a');
    await write('p', { category: 'user-preferences' });
    await write('b', { value: 'again' });
    const { entries } = (await call('memory_read')).body;
    expect(Array.isArray(entries) && entries.map((entry) => Object(entry).key)).toEqual([
      'p',
      'z',
      'b',
      'a',
    ]);
  });

  test('can be of one section, in the form that a search names it', async () => {
    const value =
      '# Deploy\n\n## Steps\n\nRun the script.\n\n## Rollback\n\nRestore the otter snapshot.\n';
    await write('deploy', { value });
    const index = new SearchIndex();
    const fields = entryRecord.search({
      ...{ category: 'patterns', key: 'deploy', value, reason: 'otter' },
      ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
    });
    index.upsert({ id: 'deploy', fields });
    expect(index.search('otter snapshot').hits).toMatchObject([{ section: 'Deploy > Rollback' }]);
    const entry = { category: 'patterns', key: 'deploy' };
    const read = (section: string) => call('memory_read', { ...entry, section });
    expect((await read('Deploy > Rollback')).body.entries).toMatchObject([
      { value: '## Rollback\n\nRestore the otter snapshot.\n' },
    ]);
    const unknown = await read('Cost');
    expect(unknown.isError).toBe(true);
    expect(JSON.stringify(unknown.body)).toContain('Deploy > Steps');
    expect((await call('memory_read', { key: 'deploy', section: 'Steps' })).isError).toBe(true);
  });

  test('a key alone is looked up in every category', async () => {
    await write('k', { category: 'protocol-state' });
    await write('k');
    await write('other');
    const { entries } = (await call('memory_read', { key: 'k' })).body;
    expect(entries).toMatchObject([{ category: 'patterns' }, { category: 'protocol-state' }]);
  });

  test('what is not there is no entry and no error', async () => {
    for (const args of [
      { category: 'decisions' },
      { key: 'k' },
      { category: 'patterns', key: 'k' },
    ]) {
      expect((await call('memory_read', args)).body).toEqual({ success: true, entries: [] });
    }
  });

  test('gives 50 entries unless told otherwise, and says when there are more', async () => {
    for (let n = 0; n < 51; n += 1) await write(`k${n}`);
    const { entries, total } = (await call('memory_read')).body;
    expect(entries).toHaveLength(50);
    expect(total).toBe(51);
    expect((await call('memory_read', { limit: 51 })).body).not.toHaveProperty('total');
  });

  test('lists all keys, empty categories, and timestamps when asked', async () => {
    const { created_at, updated_at } = await write('__proto__');
    const empty = { count: 0, keys: [] };
    expect((await call('memory_list')).body).toEqual({
      success: true,
      categories: {
        'user-preferences': empty,
        'project-learnings': empty,
        corrections: empty,
        patterns: { count: 1, keys: ['__proto__'] },
        decisions: empty,
        'protocol-state': empty,
      },
    });
    const { body } = await call('memory_list', { category: 'patterns', include_timestamps: true });
    expect(JSON.stringify(body)).toContain(
      `"timestamps":{"__proto__":{"created_at":"${created_at}","updated_at":"${updated_at}"}}`,
    );
  });

  test('search keeps to the categories asked for, and says when there are more', async () => {
    await write('first', { value: 'needle' });
    await write('second', { value: 'Needle' });
    await write('third', { category: 'corrections', value: 'needle' });
    const within = async (categories: string[], limit = 20) =>
      (await call('memory_search', { query: 'needle', categories, limit })).body;
    expect((await within(['corrections'])).results).toMatchObject([{ key: 'third' }]);
    expect((await within([])).results).toHaveLength(3);
    expect(await within(['patterns'], 1)).toMatchObject({
      results: [{ matches: ['needle'] }],
      total: 2,
    });
  });
});
