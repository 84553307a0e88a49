import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SearchResult } from '../../src/core/memory/search-hit.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';
import { deep } from '../support/depth.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';
import { seeded } from '../support/seeded.ts';

/** Files that exceed the search index: they block nothing, and a literal search finds them. */

let repo: Repo;
let opened: Opened;

beforeEach(async () => {
  repo = Repo.create();
  opened = await open(repo.root, [memoryFile]);
  repo.write('.memory-bank/small.md', '# Small\n\nhello world\n');
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

/** Makes text of a number of bytes in which each word occurs once. */
function words(bytes: number, seed: number): string {
  const random = seeded(seed);
  let text = '';
  while (text.length < bytes) text += `${letters(random())} `;
  return text;
}

/** Makes a unique word of seven letters for each number. */
function letters(number: number): string {
  let rest = Math.floor(number * 26 ** 7);
  let text = '';
  for (let i = 0; i < 7; i++) {
    text += String.fromCharCode(97 + (rest % 26));
    rest = Math.floor(rest / 26);
  }
  return text;
}

function search(query: string, more: object = {}): Promise<SearchResult> {
  return opened.call.store.search({ query, ...more });
}

const paths = ({ hits }: SearchResult) => hits.map(({ path }) => path);

deep('a search that does not wait for the index says how many records it lacks', async () => {
  for (let i = 0; i < 1500; i++) repo.write(`.memory-bank/note-${i}.md`, `# Note ${i}\n\nHello.\n`);
  const first = await search('hello', { maxWaitMs: 0 });
  expect(first.unread).toBeGreaterThan(0);
  await vi.waitFor(async () => {
    expect((await search('hello', { maxWaitMs: 0 })).unread).toBeUndefined();
  }, 60_000);
  expect((await search('hello')).total).toBe(1501);
});

test('a search that does not wait says so until the last record is in the index', async () => {
  repo.write('.memory-bank/long.md', `${words(400_000, 1)}Zyzzyva\n`);
  let result = await search('zyzzyva', { maxWaitMs: 0 });
  while (result.total === 0) {
    expect(result.unread).toBeGreaterThan(0);
    result = await search('zyzzyva', { maxWaitMs: 0 });
  }
  expect(paths(result)).toEqual(['long.md']);
});

test('a file that is too large for the index is named, and found by a literal search', async () => {
  repo.write('.memory-bank/large.md', `${'some words '.repeat(200_000)}Zyzzyva in the end\n`);
  const healthy = await search('hello', { path: 'small.md' });
  expect(healthy.leftOut).toBeUndefined();
  const found = await search('hello');
  expect(paths(found)).toEqual(['small.md']);
  expect(found.leftOut).toEqual({ records: 1, read: 0, paths: ['large.md'] });
  for (const more of [{ fuzzy: false }, {}]) {
    const literal = await search('zyzzyva in the', more);
    expect(paths(literal)).toEqual(['large.md']);
    expect(literal.hits[0]?.snippet).toContain('Zyzzyva in the end');
    expect(literal.leftOut).toMatchObject({ records: 1, read: 1 });
  }
  repo.write('.memory-bank/large.md', 'now small, zyzzyva\n');
  const again = await search('zyzzyva');
  expect(paths(again)).toEqual(['large.md']);
  expect(again.leftOut).toBeUndefined();
});

deep(
  'of more words than the index takes the largest files are left out, until there is room',
  {
    timeout: 200_000,
  },
  async () => {
    for (let i = 0; i < 4; i++) {
      repo.write(`.memory-bank/words${i}.md`, words(600_000 + 100_000 * i, i));
    }
    const left = async () => (await search('hello')).leftOut?.paths;
    await vi.waitFor(async () => expect(await left()).toEqual(['words2.md', 'words3.md']), 30_000);
    expect(paths(await search('hello'))[0]).toBe('small.md');
    // A new record is nevertheless found by its words. While the index is behind, it does not know
    // these words yet, and also finds similar ones.
    repo.write('.memory-bank/new.md', 'a stupendous thing\n');
    const found = async () => paths(await search('thing stupendous'));
    expect((await found())[0]).toBe('new.md');
    await vi.waitFor(async () => expect(await found()).toEqual(['new.md']), 30_000);
    repo.write('.memory-bank/words3.md', 'little by little\n');
    await vi.waitFor(async () => expect(await left()).toEqual(['words2.md']), 30_000);
    rmSync(repo.path('.memory-bank/words1.md'));
    await vi.waitFor(async () => expect(await left()).toBeUndefined(), 30_000);
  },
);

deep('a list is bounded: it names the largest files, which can still be read', async () => {
  const large = Array.from({ length: 10 }, (_, i) => `large${i}.md`);
  for (const [i, path] of large.entries()) {
    repo.write(`.memory-bank/${path}`, 'x'.repeat(14 * 1024 * 1024 + i));
  }
  repo.write('.memory-bank/z.md', 'last by name\n');
  const { records, damaged } = await opened.call.store.list(memoryFile);
  expect(records.map(({ path }) => path)).toEqual([...large.slice(0, 9), 'small.md', 'z.md']);
  expect(damaged.map(({ path, error }) => [path, error.code])).toEqual([
    ['large9.md', 'too_large'],
  ]);
  expect((await opened.call.store.get(memoryFile, 'large9.md'))?.value.content).toHaveLength(
    14 * 1024 * 1024 + 9,
  );
});

deep(
  'other calls come between the slices of the first search, and their changes are found',
  async () => {
    for (let i = 0; i < 10; i++) {
      repo.write(`.memory-bank/w${i}.md`, `${words(40_000, i)} common\n`);
    }
    let turns = 0;
    let going = true;
    const turn = () => {
      turns += 1;
      if (going) setImmediate(turn);
    };
    setImmediate(turn);
    const searches = [search('common', { limit: 100 }), search('common', { limit: 100 })];
    await opened.call.store.change({ subject: 'write' }, (tx) =>
      tx.put(memoryFile, { path: 'meanwhile.md', content: 'written meanwhile\n' }),
    );
    expect(paths(await search('meanwhile'))).toEqual(['meanwhile.md']);
    for (const { total } of await Promise.all(searches)) expect(total).toBe(10);
    going = false;
    expect(turns).toBeGreaterThan(3);
  },
);
