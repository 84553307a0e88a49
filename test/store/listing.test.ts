import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ListOptions } from '../../src/core/memory/listing.ts';
import type { Reader } from '../../src/core/memory/store.ts';
import { type Path, path } from '../../src/toolsets/graph/records.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let opened: Opened;

beforeEach(async () => {
  repo = Repo.create();
  opened = await open(repo.root, [path], {});
  await opened.call.store.change({ subject: 'plan' }, async (tx) => {
    for (const name of ['a', 'b', 'c']) await tx.put(path, value(name));
  });
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

const time = '2026-01-01T00:00:00.000Z';
const idOf = (name: string) => `id-${name}`.padEnd(12, '0');
const value = (name: string, more: Partial<Path> = {}): Path => ({
  path: name,
  type: 'file',
  id: idOf(name),
  created_at: time,
  updated_at: time,
  ...more,
});
const keys = async (reader: Reader, options: ListOptions) =>
  (await reader.list(path, options)).records.map(({ key }) => key);

test('records can be requested by key and by id', async () => {
  const { store } = opened.call;
  expect(await keys(store, { keys: ['c', 'none', 'a', 'a'] })).toEqual(['a', 'c']);
  expect(await keys(store, { ids: [idOf('b'), idOf('none')] })).toEqual(['b']);
  expect(await keys(store, { keys: ['a'], ids: [idOf('b')] })).toEqual(['a', 'b']);
  expect(await keys(store, { keys: [], ids: [] })).toEqual([]);
});

test('a record is found by its current names after a person has moved it', async () => {
  repo.git('mv', '.memory-bank/graph/paths/a.yaml', '.memory-bank/graph/paths/moved.yaml');
  const text = repo.read('.memory-bank/graph/paths/b.yaml');
  repo.write('.memory-bank/graph/paths/b.yaml', text.replace(idOf('b'), idOf('new')));
  opened = await open(repo.root, [path], {});
  const { store } = opened.call;
  expect(await keys(store, { ids: [idOf('a')] })).toEqual(['a']);
  expect(await keys(store, { keys: ['a'] })).toEqual(['a']);
  expect(await keys(store, { ids: [idOf('b')] })).toEqual([]);
  expect(await keys(store, { ids: [idOf('new')] })).toEqual(['b']);
});

test('of damaged files only the one at the path of a key is named', async () => {
  repo.write('.memory-bank/graph/paths/a.yaml', 'path: [\n');
  repo.write('.memory-bank/graph/paths/c.yaml', 'path: [\n');
  const { records, damaged } = await opened.call.store.list(path, { keys: ['a', 'b'] });
  expect(records.map(({ key }) => key)).toEqual(['b']);
  expect(damaged.map(({ path }) => path)).toEqual(['graph/paths/a.yaml']);
});

test('a search names damaged files and duplicate keys while they exist', async () => {
  const file = (name: string) => `.memory-bank/graph/paths/${name}.yaml`;
  const damaged = async () => {
    const found = await opened.call.store.search({ query: 'anything' });
    return found.damaged.map(({ path, error }) => `${path.split('/').at(-1)} ${error.code}`);
  };
  expect(await damaged()).toEqual([]);
  const text = repo.read(file('b'));
  repo.write(file('b'), 'path: [\n');
  repo.write(file('double'), repo.read(file('c')));
  repo.write(file('again'), repo.read(file('c')));
  expect(await damaged()).toEqual([
    'again.yaml conflict',
    'b.yaml damaged',
    'double.yaml conflict',
  ]);
  repo.write(file('b'), text);
  rmSync(repo.path(file('again')));
  expect(await damaged()).toEqual(['double.yaml conflict']);
  rmSync(repo.path(file('c')));
  expect(await damaged()).toEqual([]);
  repo.write(file('b'), 'path: [\n');
  expect(await damaged()).toEqual(['b.yaml damaged']);
  rmSync(repo.path(file('b')));
  expect(await damaged()).toEqual([]);
});

test('a search finds the file of a key that git has got since', async () => {
  const file = (name: string) => `.memory-bank/graph/paths/${name}.yaml`;
  const found = async (query: string) =>
    (await opened.call.store.search({ query })).hits.map(({ path }) => path.split('/').at(-1));
  const text = repo.read(file('c')).replace('path: c', 'path: new').replace(idOf('c'), idOf('new'));
  repo.write(file('one'), `${text}description: porcupine\n`);
  repo.write(file('two'), `${text}description: hedgehog\n`);
  expect([await found('porcupine'), await found('hedgehog')]).toEqual([['one.yaml'], []]);
  repo.git('add', file('two'));
  expect([await found('porcupine'), await found('hedgehog')]).toEqual([[], ['two.yaml']]);
});

test('a change sees its own writes by their names', async () => {
  await opened.call.store.change({ subject: 'change' }, async (tx) => {
    await tx.put(path, value('new'));
    await tx.put(path, value('b', { id: idOf('other') }));
    await tx.remove(path, 'a');
    expect(await keys(tx, { ids: [idOf('a'), idOf('b'), idOf('other'), idOf('new')] })).toEqual([
      'b',
      'new',
    ]);
    expect(await keys(tx, { keys: ['a', 'new', 'c'] })).toEqual(['c', 'new']);
  });
});

test('a record that was found by its key and then removed by hand is not listed', async () => {
  const fresh = await open(repo.root, [path], {});
  try {
    expect((await fresh.call.store.get(path, 'a'))?.key).toBe('a');
    rmSync(repo.path('.memory-bank/graph/paths/a.yaml'));
    expect(await keys(fresh.call.store, {})).toEqual(['b', 'c']);
  } finally {
    await fresh.workspace.close();
  }
});
