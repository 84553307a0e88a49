import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeDeep } from '../support/depth.ts';
import { Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = new Stage();
  await stage.succeed('initialize_memory_bank', { path: '.' });
  await stage.succeed('activate', { bank_type: 'project', bank_id: 'shop' });
  await stage.succeed('activate_project');
  await stage.succeed('create_objective', { slug: 'ship', name: 'Ship' });
  await stage.succeed('create_features', { features: [{ slug: 'cart', name: 'Cart' }] });
});
afterAll(async () => {
  expect(stage.repo.fsck()).toBe('');
  expect(stage.repo.status()).toEqual([]);
  await stage.close();
});

const big = 'words and words\n'.repeat(650_000);
const long = 'x'.repeat(10 * 1024 * 1024);
const many = (n: number, make: (i: number) => unknown) =>
  Array.from({ length: n }, (_, i) => make(i));
const deep = (levels: number): unknown => {
  let value: unknown = 'x';
  for (let i = 0; i < levels; i++) value = { a: value };
  return value;
};

describeDeep('10 MB of text are refused', () => {
  const bank = { bank_type: 'project', bank_id: 'shop' };
  const cases: readonly (readonly [tool: string, field: string, args: (text: string) => object])[] =
    [
      ['write_memory_bank_file', 'content', (content) => ({ filename: 'x.md', content })],
      ['write_memory_bank_file', 'filename', (filename) => ({ filename, content: '' })],
      ['track_progress', 'action', (action) => ({ action, description: 'x' })],
      ['track_progress', 'description', (description) => ({ action: 'x', description })],
      ['update_active_context', 'tasks', (task) => ({ tasks: [task] })],
      ['log_decision', 'title', (title) => ({ title, context: 'x', decision: 'x' })],
      ['log_decision', 'decision', (decision) => ({ title: 'x', context: 'x', decision })],
      ['create_features', 'name', (name) => ({ features: [{ slug: 'a', name }] })],
      ['create_features', 'slug', (slug) => ({ features: [{ slug, name: 'x' }] })],
      ['create_paths', 'path', (path) => ({ paths: [{ path, type: 'file' }] })],
      [
        'create_requirements',
        'text',
        (text) => ({ feature_slug: 'cart', requirements: [{ text }] }),
      ],
      ['create_tasks', 'text', (text) => ({ objective_slug: 'ship', tasks: [{ text }] })],
      ['create_tickets', 'key', (key) => ({ tickets: [{ key }] })],
      [
        'create_tickets',
        'description',
        (description) => ({ tickets: [{ key: 'a', description }] }),
      ],
      ['store_memory', 'title', (title) => ({ title, type: 'analysis', content: 'x' })],
      ['store_memory', 'content', (content) => ({ title: 'x', type: 'analysis', content })],
      ['memory_write', 'key', (key) => ({ category: 'patterns', key, value: 'x' })],
      ['memory_write', 'value', (value) => ({ category: 'patterns', key: 'x', value })],
      [
        'memory_write',
        'metadata',
        (a) => ({ category: 'patterns', key: 'x', value: 'x', metadata: { a } }),
      ],
      ['activate', 'bank_id', (bank_id) => ({ bank_type: 'code', bank_id })],
      [
        'update',
        'content',
        (content) => ({ ...bank, target_file: 'x.md', operation: 'append', content }),
      ],
      ['switch_mode', 'mode', (mode) => ({ mode })],
      ['search_memory', 'path', (path) => ({ query: 'x', path })],
      ['read_as_of', 'revision', (revision) => ({ revision })],
    ];

  test.each(cases)('by %s in "%s"', async (tool, _, args) => {
    await stage.refuse(tool, args(big));
    await stage.refuse(tool, args(long));
  });
});

describe('too many items are refused', () => {
  const cases: readonly (readonly [tool: string, args: object])[] = [
    ['create_features', { features: many(20_000, (i) => ({ slug: `f${i}`, name: 'x' })) }],
    ['create_paths', { paths: many(20_000, (i) => ({ path: `p${i}`, type: 'file' })) }],
    ['create_paths', { paths: [{ path: 'p', type: 'file', use_when: many(100_000, String) }] }],
    [
      'create_requirements',
      { feature_slug: 'cart', requirements: many(20_000, (i) => ({ text: `r${i}` })) },
    ],
    [
      'create_requirements',
      { feature_slug: 'cart', requirements: [{ text: 'r', notes: many(100_000, String) }] },
    ],
    ['create_tasks', { objective_slug: 'ship', tasks: many(20_000, (i) => ({ text: `t${i}` })) }],
    ['create_tickets', { tickets: many(20_000, (i) => ({ key: `k${i}` })) }],
    ['reorder_tasks', { objective_slug: 'ship', task_ids: many(100_000, () => 'Abcdefghijk1') }],
    [
      'link_paths_to_feature',
      { feature_slug: 'cart', path_ids: many(100_000, () => 'Abcdefghijk1') },
    ],
    [
      'link_objective_to_features',
      { objective_slug: 'ship', feature_slugs: many(100_000, (i) => `s${i}`) },
    ],
    [
      'link_objective_to_tickets',
      { objective_slug: 'ship', ticket_keys: many(100_000, (i) => `k${i}`) },
    ],
    ['update_active_context', { tasks: many(100_000, String) }],
    [
      'log_decision',
      { title: 'x', context: 'x', decision: 'x', alternatives: many(100_000, String) },
    ],
  ];

  test.each(cases)('by %s', async (tool, args) => {
    await stage.refuse(tool, args);
  });
});

describe('what is nested too deeply is refused', () => {
  test.each([50, 1000, 100_000])('metadata of %i levels', async (levels) => {
    const metadata = deep(levels);
    await stage.refuse('memory_write', { category: 'patterns', key: 'x', value: 'x', metadata });
  });

  test('a feature below 33 folders', async () => {
    const slug = (levels: number) => Array.from({ length: levels }, (_, i) => `s${i}`).join('/');
    const features = (levels: number) => ({ features: [{ slug: slug(levels), name: 'x' }] });
    await stage.succeed('create_features', features(31));
    expect(JSON.stringify(await stage.succeed('list_features'))).toContain(slug(31));
    expect(await stage.refuse('create_features', features(32))).toContain('33 folders');
    const paths = ['src', slug(40), 'test'].map((path) => ({ path, type: 'directory' }));
    expect(await stage.refuse('create_paths', { paths })).toContain(
      '"paths[1]: The record would be below 41 folders. At most ',
    );
  });

  test.each([1000, 100_000])('a list of %i levels instead of a text', async (levels) => {
    await stage.refuse('memory_write', { category: 'patterns', key: 'x', value: deep(levels) });
    await stage.refuse('create_features', { features: [{ slug: deep(levels), name: 'x' }] });
    await stage.refuse('create_features', deep(levels) as object);
  });
});

describeDeep('arguments of the wrong kind are refused', () => {
  const values = [null, 0, -1, 1e308, Number.NaN, true, '', [], {}, [[]], { length: 1 }, '\ud800'];
  const calls: readonly (readonly [tool: string, args: (value: unknown) => object])[] = [
    ['memory_write', (value) => ({ category: value, key: 'x', value: 'x' })],
    ['create_features', (value) => ({ features: value })],
    ['create_tasks', (value) => ({ objective_slug: value, tasks: [{ text: 'x' }] })],
    ['get_memory', (value) => ({ memory_id: value })],
    ['read_memory_bank_file', (value) => ({ filename: value })],
    ['activate', (value) => ({ bank_type: value, bank_id: 'x' })],
  ];

  test.each(calls)('by %s', async (tool, args) => {
    for (const value of values) await stage.refuse(tool, args(value));
  });

  test('and names of prototype members are not arguments', async () => {
    const args = JSON.parse('{"__proto__": {"category": "patterns", "key": "x", "value": "x"}}');
    await stage.refuse('memory_write', args);
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      await stage.succeed('memory_write', { category: 'patterns', key, value: key });
      const { entries } = await stage.succeed('memory_read', { category: 'patterns', key });
      expect(entries).toMatchObject([{ key, value: key }]);
    }
    const metadata = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}');
    await stage.succeed('memory_write', { category: 'patterns', key: 'm', value: 'x', metadata });
    expect({}).not.toHaveProperty('polluted');
    const { entries } = await stage.succeed('memory_read', { category: 'patterns', key: 'm' });
    expect(JSON.stringify(entries)).toContain('"__proto__":{"polluted":true}');
  });
});
