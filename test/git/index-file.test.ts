import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IndexFile } from '../../src/git/index/index-file.ts';
import type { Oid } from '../../src/git/objects/object.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { objectFormat, Repo } from '../support/repo.ts';

let repo: Repo;
beforeAll(() => {
  repo = Repo.create();
});
afterAll(() => repo.remove());

test('a changed line invalidates the cached trees above it, unless their new trees are known', () => {
  repo.write('a/b/one.txt', 'old\n');
  repo.write('a/two.txt', 'two\n');
  repo.git('add', '.');
  repo.git('commit', '-qm', 'two folders');
  const oid = repo.gitWith({ input: 'new\n' }, 'hash-object', '-w', '--stdin').trim();
  const index = IndexFile.read(readFileSync(repo.path('.git/index')), objectFormat);
  const change = { path: 'a/b/one.txt', oid, mode: 0o100644, stat: undefined };
  writeFileSync(repo.path('.git/index'), bytesOf(index.splice([change], [], [])));
  // Git trusts a valid cached tree when it writes a tree.
  const tree = repo.git('write-tree').trim();
  expect(repo.git('rev-parse', `${tree}:a/b/one.txt`).trim()).toBe(oid);
});

/** Names that share short and long prefixes with their neighbours, one longer than a line can record. */
function pathOf(i: number): string {
  if (i === 1000) return `${'long/'.repeat(820)}name`;
  return `part-${i % 7}/a${'ab'.repeat(i % 5)}/${i}${'é'.repeat(i % 3)}`;
}

const number = fc.integer({ min: 0, max: 2000 });
const oid = fc
  .integer({ min: 1, max: 0xffff })
  .map((i) => i.toString(16).padStart(objectFormat.digits, '0'));
const start = fc.record({
  /** The number of files, and those that a merge has left in three versions. */
  count: fc.constantFrom(0, 1, 511, 512, 513, 2000),
  unmerged: fc.array(number, { maxLength: 5 }),
});
const round = fc.record({
  /** Some single files, and a range of files. */
  some: fc.array(fc.tuple(number, fc.option(oid, { nil: undefined })), { maxLength: 30 }),
  row: fc.tuple(number, fc.integer({ min: 0, max: 1500 }), fc.option(oid, { nil: undefined })),
});

describe.each([2, 4])('an index of version %i', (version) => {
  test('has after any changes exactly the bytes that git writes for the same lines', () => {
    fc.assert(
      fc.property(start, fc.array(round, { minLength: 1, maxLength: 3 }), (first, rounds) => {
        const model = new Map<string, Oid>();
        for (let i = 0; i < first.count; i++) model.set(pathOf(i), '1'.repeat(objectFormat.digits));
        const unmerged = new Set(first.unmerged.map(pathOf).filter((path) => model.has(path)));
        let index = IndexFile.read(gitIndex(version, model, unmerged), objectFormat);
        expect(index.unmergedBelow('').map(({ path }) => path)).toEqual(sorted(unmerged));
        for (const { some, row } of rounds) {
          const [from, length, all] = row;
          const edits = new Map(some.map(([i, oid]) => [pathOf(i), oid]));
          for (let i = from; i < from + length; i++) edits.set(pathOf(i), all);
          const set = [...edits].flatMap(([path, oid]) =>
            oid === undefined ? [] : [{ path, oid, mode: 0o100644, stat: undefined }],
          );
          const remove = [...edits.keys()].filter((path) => edits.get(path) === undefined);
          const before = bytesOf(index);
          const after = index.splice(set, remove, []);
          expect(bytesOf(index).equals(before)).toBe(true);
          index = after;
          for (const { path, oid } of set) model.set(path, oid);
          for (const path of remove) model.delete(path);
          for (const path of edits.keys()) unmerged.delete(path);
          const wrong = [...edits.keys()].find((path) => after.find(path)?.oid !== model.get(path));
          expect(wrong).toBeUndefined();
        }
        expect(bytesOf(index).equals(gitIndex(version, model, unmerged))).toBe(true);
      }),
      { numRuns: runs(15) },
    );
  });
});

function bytesOf(index: IndexFile): Buffer {
  return Buffer.concat(index.pieces());
}

function sorted(paths: ReadonlySet<string>): string[] {
  return [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** The index that git writes for these files, some of them unmerged. */
function gitIndex(
  version: number,
  files: ReadonlyMap<string, Oid>,
  unmerged: ReadonlySet<string>,
): Buffer {
  // A line that is added and removed: without a change, git would not write the index.
  const passing = ['100644', '0'].map(
    (mode) => `${mode} ${'1'.repeat(objectFormat.digits)} 0\tpassing\0`,
  );
  const lines = [...files].map(([path, oid]) => {
    const stages = unmerged.has(path) ? [1, 2, 3] : [0];
    return stages.map((stage) => `100644 ${oid} ${stage}\t${path}\0`).join('');
  });
  rmSync(repo.path('.git/index'), { force: true });
  const options = ['-c', `index.version=${version}`, '-c', 'index.threads=1'];
  const input = [...passing, ...lines].join('');
  repo.gitWith({ input }, ...options, 'update-index', '-z', '--index-info');
  return readFileSync(repo.path('.git/index'));
}
