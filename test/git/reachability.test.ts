import { afterAll, expect, test } from 'vitest';
import { reachableCommits } from '../../src/git/refs/reachability.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { Repo } from '../support/repo.ts';
import { open } from './repository-at.ts';

const repo = Repo.create();
afterAll(() => repo.remove());

/** A commit: how far before it its parents are in the list, and the seconds since the one before it. */
const commit = fc.record({
  parents: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
  later: fc.constantFrom(0, 0, 0, 1, 5),
});

/** Makes the commits, and returns their ids. */
function make(commits: readonly { parents: readonly number[]; later: number }[]): string[] {
  let time = 1_700_000_000;
  const stream = commits.map(({ parents, later }, index) => {
    time += later;
    const [from, merge] = parents.filter((by) => by <= index).map((by) => `:${index - by + 1}\n`);
    return [
      `commit refs/heads/line-${index}\nmark :${index + 1}\n`,
      `committer A <a@example.org> ${time} +0000\ndata <<.\n${index}\n.\n`,
      from ? `from ${from}` : '',
      merge ? `merge ${merge}` : '',
      '\n',
    ].join('');
  });
  repo.gitWith({ input: `${stream.join('')}done\n` }, 'fast-import', '--quiet', '--force');
  const names = commits.map((_, index) => `line-${index}`);
  return repo
    .git('rev-parse', ...names)
    .trim()
    .split('\n');
}

const list = (...args: string[]) => repo.git('rev-list', ...args).match(/\S+/g) ?? [];

test('commits that a base does not have are those that git lists, also of one second', async () => {
  const places = fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 11 }));
  await fc.assert(
    fc.property(fc.array(commit, { minLength: 12, maxLength: 12 }), places, (commits, places) => {
      const oids = make(commits);
      const { odb } = open(repo.root);
      const [oid = '', base = ''] = places.map((place) => oids[place] ?? '');
      const found = [...reachableCommits(odb, base, [{ name: 'one', oid }]).keys()];
      expect(found.toSorted()).toEqual(list(oid, `^${base}`).toSorted());
      if (list('--merges', oid, `^${base}`).length === 0) {
        expect(found).toEqual(list(oid, `^${base}`));
      }
    }),
    { numRuns: runs(30) },
  );
});

test('a base and a line that parted within one second have only their own commits', () => {
  const commits = [1, 1, 1, 2].map((by) => ({ parents: [by], later: 0 }));
  const [base = '', oid = ''] = make(commits).slice(2);
  const { odb } = open(repo.root);
  const found = [...reachableCommits(odb, base, [{ name: 'one', oid }]).keys()];
  expect(found).toEqual(list(oid, `^${base}`));
});

test('a clock that was wrong for some commits of the base adds none of them', () => {
  const line = (length: number, parents: readonly number[], later: number) =>
    Array.from({ length }, () => ({ parents, later }));
  const commits = [...line(3, [1], 10), ...line(6, [1], 0), ...line(3, [1], 10)];
  const oids = make(commits).slice(0, 9);
  const tree = repo.git('rev-parse', `${oids[8]}^{tree}`).trim();
  const base = repo
    .gitWith(
      { env: { GIT_COMMITTER_DATE: '1600000000 +0000' } },
      ...['commit-tree', tree, '-p', oids[8] ?? '', '-m', 'Of a wrong clock'],
    )
    .trim();
  const tip = repo.git('commit-tree', tree, '-p', oids[5] ?? '', '-m', 'Own').trim();
  const { odb } = open(repo.root);
  expect([...reachableCommits(odb, base, [{ name: 'one', oid: tip }]).keys()]).toEqual([tip]);
});
