import { afterEach, beforeEach, expect } from 'vitest';
import type { MemoryPlace } from '../../src/git/repository/memory-place.ts';
import { deep } from '../support/depth.ts';
import { PlacedMemories, place as placeIn } from '../support/placed.ts';
import { Repo } from '../support/repo.ts';

const ownBranch: MemoryPlace = { kind: 'own-branch', branch: 'memory' };

let repo: Repo;
let memories: PlacedMemories;

beforeEach(() => {
  repo = Repo.create();
  memories = new PlacedMemories();
});
afterEach(async () => {
  await memories.close();
  repo.remove();
});

const place = (to: MemoryPlace | undefined) => placeIn(repo.root, to, memories.clock);

deep('evidence is compared with the code at the time of the change', async () => {
  repo.write('src/a.ts', 'one\ntwo\nthree\n');
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'Add a');
  await place(ownBranch);
  await memories.put(repo.root, 'a', 'See src/a.ts:2.');
  const check = async () => (await memories.at(repo.root)).call.history.evidence({ only: 'code' });
  expect((await check()).counts).toMatchObject({ fresh: 1, changed: 0 });
  repo.write('src/a.ts', 'zero\none\ntwo\nthree\n');
  expect((await check()).counts).toMatchObject({ moved: 1, changed: 0 });
  repo.write('src/a.ts', 'one\n2\nthree\n');
  repo.git('commit', '-qam', 'Change two');
  const { counts, records } = await check();
  expect(counts).toMatchObject({ changed: 1 });
  expect(records[0]?.findings[0]?.message).toContain('Change two');
  const { call } = await memories.at(repo.root);
  const cautions = await call.store.cautions(['notes/a.yaml']);
  expect([...cautions.keys()]).toEqual(['notes/a.yaml']);
  // The same after the move back: the message of the commit names the code.
  await place(undefined);
  expect((await check()).counts).toMatchObject({ changed: 1 });
  const since = await (await memories.at(repo.root)).call.history.evidence({
    only: 'code',
    since: 'HEAD~1',
  });
  expect(since.counts).toMatchObject({ changed: 0 });
});

deep('no false alarm after a squash, in a clone without the squashed commits', async () => {
  const commit = (text: string, message: string, env = {}) => {
    repo.write('src/a.ts', text);
    repo.git('add', '.');
    repo.gitWith({ env }, 'commit', '-q', '-m', message);
  };
  // Before the first change of the memory, by its clock.
  const GIT_COMMITTER_DATE = '2026-01-01T00:00:00Z';
  commit('one\ntwo\nthree\n', 'Add a', { GIT_COMMITTER_DATE });
  await place(ownBranch);
  await memories.put(repo.root, 'before', 'See src/a.ts:1-2.');
  repo.checkout('topic');
  commit('one\n2\nthree\n', 'Change two');
  await memories.put(repo.root, 'later', 'See src/a.ts:2 and src/a.ts:3.');
  repo.checkout('main');
  repo.git('merge', '-q', '--squash', 'topic');
  repo.git('commit', '-q', '-m', 'Squash');
  repo.git('branch', '-q', '-D', 'topic');
  const clone = new Repo();
  clone.git('clone', '-q', `file://${repo.root}`, '.');
  const { records } = await (await memories.at(clone.root)).call.history.evidence({
    only: 'code',
  });
  const found = records.map(({ path, findings }) => [path, findings.map((one) => one.message)]);
  expect(found).toEqual([
    [
      'notes/before.yaml',
      [expect.stringMatching(/^The text of src\/a\.ts:1-2 was changed, last by /)],
    ],
    [
      'notes/later.yaml',
      [
        'Nothing is known about src/a.ts:2: the commit on which it was written is not in this clone.',
        'src/a.ts:3 is as it was.',
      ],
    ],
  ]);
  clone.remove();
});
