import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { killedOn, locks, ofRefusal, onDisk } from '../faults/lacking.ts';
import { litter } from '../faults/place.ts';
import { type Scenario, scenarios } from '../faults/scenario.ts';
import { Stage } from '../faults/stage.ts';
import { deep, isFull, sample } from '../support/depth.ts';
import type { FaultFiles, FaultPlan } from '../support/fault-files.ts';
import { Fleet } from '../support/fleet.ts';
import { note } from '../support/note.ts';
import { codes, dispensable, InodeOfPath, needed, refusing } from '../support/odd-disk.ts';
import { type Opened, open } from '../support/open.ts';
import type { Repo } from '../support/repo.ts';
import { create } from './create.ts';

const decisions = { ours: [], theirs: [], confirm: false };
const put = (opened: Opened, key: string, text: string) =>
  opened.call.store.change({ subject: `put ${key}` }, (tx) =>
    tx.put(note, { key, tags: [], text }),
  );

interface Watch {
  /** Is given the repository that the disk holds. */
  readonly begun?: (repo: Repo) => void;
  /** By default a warning fails the test. */
  readonly warn?: (message: string) => void;
}

/** Syncs one of two clones with a change each, on a disk. */
async function sync(disk: FaultFiles, { begun, warn }: Watch = {}) {
  const fleet = await Fleet.create(2, 'a folder');
  const [one, two] = fleet?.clones ?? [];
  if (!fleet || !one || !two) throw new Error('A folder needs only git.');
  onTestFinished(() => fleet.remove());
  await put(one.opened, 'theirs', 'theirs');
  await one.opened.call.history.sync(decisions);
  begun?.(two.repo);
  const opened = await fleet.open(two.repo, { files: disk, ...(warn && { warn }) });
  await put(opened, 'ours', 'ours');
  const { commit } = await opened.call.history
    .sync(decisions)
    .finally(() => opened.workspace.close());
  expect(commit).toBeDefined();
  expect(two.repo.git('log', '-1', '--format=%P').trim().split(' ')).toHaveLength(2);
  expect(fleet.hub.git('rev-parse', 'main')).toBe(two.repo.git('rev-parse', 'HEAD'));
  return two.repo;
}

/** Resolves a merge that git could not finish, on a disk. */
async function resolve(disk: FaultFiles, { begun, warn }: Watch = {}) {
  const repo = create();
  const writer = await open(repo.root, [note]);
  await put(writer, 'a', 'one\n');
  repo.checkout('side');
  await put(writer, 'a', 'theirs\n');
  repo.checkout('main');
  await put(writer, 'a', 'ours\n');
  await writer.workspace.close();
  expect(() => repo.git('merge', 'side')).toThrow();
  begun?.(repo);
  const opened = await open(repo.root, [note], { files: disk, ...(warn && { warn }) });
  const { resolved } = await opened.call.history
    .resolve({ ...decisions, ours: ['notes/a.yaml'] })
    .finally(() => opened.workspace.close());
  expect(resolved).toEqual(['notes/a.yaml']);
  repo.git('commit', '-q', '--no-edit');
  return repo;
}

const lacking: readonly (readonly [string, () => FaultFiles])[] = [
  [
    'that lacks links, modes, times and more',
    () => refusing(['link', 'chmod', 'utimes', 'truncate', 'fsync of a folder'], 'EOPNOTSUPP'),
  ],
  ['that has an inode for each path', () => new InodeOfPath()],
  ...dispensable.flatMap((operation) =>
    codes.map(
      (code) =>
        [`that refuses ${operation} with ${code}`, () => refusing([operation], code)] as const,
    ),
  ),
];

describe.each(sample(lacking, 1))('on a disk %s', (_, disk) => {
  test.each([
    ['a sync joins two lines of history and pushes them', sync],
    ['a merge that git could not finish is resolved', resolve],
  ])('%s', async (_, act) => {
    const repo = await act(disk());
    expect(repo.status()).toEqual([]);
    expect(repo.fsck()).toBe('');
    expect(litter(repo.root)).toEqual([]);
  });
});

describe.each(sample(needed, 1))('without %s', (operation) => {
  test.each([
    ['a sync', sync],
    ['a merge', resolve],
  ])('%s is refused by name or done, and leaves no lock', async (_, act) => {
    for (const code of sample(codes, 1)) {
      let place: Repo | undefined;
      const begun = (repo: Repo) => {
        place = repo;
      };
      const disk = refusing([operation], code);
      const wrong = await act(disk, { begun, warn: () => {} }).then(() => [], ofRefusal);
      expect(wrong, code).toEqual([]);
      expect(
        litter(place?.root ?? '', false).filter((path) => locks.test(path)),
        code,
      ).toEqual([]);
    }
  });
});

const stages = new Map<string, Promise<Stage>>();
function stageOf(scenario: Scenario): Promise<Stage> {
  const known = stages.get(scenario.name) ?? Stage.set(scenario);
  stages.set(scenario.name, known);
  return known;
}
afterAll(async () => {
  for (const stage of stages.values()) (await stage).remove();
});

/** The errors that each call is refused with: all of them in one scenario of the full run. */
const codesOf = ({ name }: Scenario, few: number) =>
  isFull && name === 'edit by hand' ? codes : codes.slice(0, few);

const tried = scenarios.filter(({ name }) => isFull || name === 'edit by hand');

describe.each(tried)('$name', { timeout: 900_000 }, (scenario) => {
  test.each(sample(dispensable, 1))('is done without %s', async (operation) => {
    const stage = await stageOf(scenario);
    for (const code of codesOf(scenario, 1)) {
      expect(await onDisk(stage, refusing([operation], code), false), code).toEqual([]);
    }
  });

  deep('is done without all of these', async () => {
    const stage = await stageOf(scenario);
    for (const code of codesOf(scenario, 2)) {
      expect(await onDisk(stage, refusing(dispensable, code), false), code).toEqual([]);
    }
  });

  deep('is done where a link shows another inode than its file', async () => {
    expect(await onDisk(await stageOf(scenario), new InodeOfPath(), false)).toEqual([]);
  });

  deep('is wholly there or wholly absent after a kill at any step without links', async () => {
    const stage = await stageOf(scenario);
    const disk = (then?: FaultPlan) => refusing(['link'], 'EPERM', then);
    // All steps of every scenario are tried by `npm run test:faults` on a disk that has links.
    const step = scenario.name === 'edit by hand' ? 5 : 37;
    for (let n = step; ; n += step) {
      const wrong = await killedOn(stage, n, disk);
      if (wrong === undefined) break;
      expect(wrong).toEqual([]);
    }
  });

  deep.each(sample(needed, 3))(
    'is refused by name and leaves no lock without %s',
    async (operation) => {
      const stage = await stageOf(scenario);
      for (const code of codesOf(scenario, 1)) {
        expect(await onDisk(stage, refusing([operation], code), true), code).toEqual([]);
        const more = [operation, ...dispensable];
        expect(await onDisk(stage, refusing(more, code), true), code).toEqual([]);
      }
    },
  );
});
