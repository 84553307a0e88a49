import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeName } from '../../src/core/names/name.ts';
import { requirement } from '../../src/toolsets/graph/records.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const at = '2026-01-01T00:00:00.000Z';
let repo: Repo;
let opened: Opened;
beforeEach(async () => {
  repo = Repo.create();
  opened = await open(repo.root, [entryRecord, requirement]);
});
afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

function entry(key: string, value = key) {
  return { category: 'patterns', key, value, created_at: at, updated_at: at } as const;
}

function write(key: string, value?: string): Promise<string> {
  return opened.call.store.change({ subject: 'write' }, async (transaction) => {
    return (await transaction.put(entryRecord, entry(key, value))).path;
  });
}

async function read(key: string): Promise<string | undefined> {
  return (await opened.call.store.get(entryRecord, `patterns/${key}`))?.value.value;
}

test.each([
  ['ada', 'Ada', 'ADA'],
  ['Ada', 'ada', 'aDa'],
  ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9'],
  ['Use JWT', 'use-jwt', 'use/jwt'],
])('only the first of %j, %j and %j needs no suffix', async (...keys) => {
  const paths: string[] = [];
  for (const key of keys) paths.push(await write(key));
  const [first = '', ...others] = paths;
  const stem = first.slice(0, -'.md'.length);
  expect(first).toMatch(/^knowledge\/patterns\/[a-z\u00e9-]+\.md$/);
  for (const other of others) {
    expect(other.slice(0, stem.length)).toBe(stem);
    expect(other.slice(stem.length)).toMatch(/^-[0-9a-f]{6}\.md$/);
  }
  expect(new Set(paths).size).toBe(keys.length);
  await opened.workspace.close();
  opened = await open(repo.root, [entryRecord, requirement]);
  for (const key of keys) expect(await read(key)).toBe(key);
  for (const key of keys) await write(key, 'new');
  for (const key of keys) expect(await read(key)).toBe('new');
  expect(repo.git('ls-files', '.memory-bank/knowledge').trim().split('\n')).toHaveLength(3);
});

test('a file that an earlier version named keeps its name', async () => {
  const path = `knowledge/patterns/${encodeName('Use JWT')}.md`;
  repo.write(`.memory-bank/${path}`, entryRecord.codec.encode(entry('Use JWT')));
  expect(await read('Use JWT')).toBe('Use JWT');
  expect(await write('Use JWT', 'new')).toBe(path);
  expect(await write('use-jwt')).toBe('knowledge/patterns/use-jwt.md');
  expect(await read('Use JWT')).toBe('new');
});

test('records with the same text get numbers, and no number of them is too large', async () => {
  const paths = await opened.call.store.change({ subject: 'write' }, async (transaction) => {
    const all: string[] = [];
    for (let i = 0; i < 103; i++) {
      const id = `ABCdefghi${String(i).padStart(3, '0')}`;
      const value = { text: 'Be quick!', feature: 'search', id, created_at: at, updated_at: at };
      all.push((await transaction.put(requirement, value)).path);
    }
    return all;
  });
  expect(paths.slice(0, 2)).toEqual([
    'graph/requirements/search/be-quick.yaml',
    'graph/requirements/search/be-quick-2.yaml',
  ]);
  expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(103);
  expect(paths.at(-1)).toMatch(/be-quick-[0-9a-f]{6}\.yaml$/);
});
