import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { MemoryPlace } from '../../src/git/repository/memory-place.ts';
import { bury } from '../faults/place.ts';
import { deep, isFull, sample } from '../support/depth.ts';
import { FaultFiles, type FaultPlan, type Operation, reading } from '../support/fault-files.ts';
import { PlacedMemories, place } from '../support/placed.ts';
import { type Ordering, PowerCutFiles } from '../support/power-cut.ts';
import { Random } from '../support/random.ts';
import { Repo } from '../support/repo.ts';
import { seed } from '../support/seed.ts';

const ownBranch: MemoryPlace = { kind: 'own-branch', branch: 'memory' };

/** A project with a memory, and a repository next to it. */
class Ground {
  readonly memories = new PlacedMemories();
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'memory-bank-')));
  readonly repo = Repo.in(join(this.folder, 'project')).begin();
  readonly other = Repo.in(join(this.folder, 'team'));
  readonly #other: MemoryPlace = { kind: 'repository', folder: this.other.root };

  async prepare([from]: Move): Promise<this> {
    this.other.git('init', '-q', '-b', 'main');
    for (const one of [this.repo, this.other]) one.git('config', 'gc.auto', '0');
    await this.memories.put(this.repo.root, 'a');
    await this.memories.put(this.repo.root, 'b');
    await this.#place(from);
    await this.memories.close();
    this.repo.write('staged.txt', 'staged\n');
    this.repo.git('add', 'staged.txt');
    this.repo.write('README.md', '# Dirty\n');
    return this;
  }

  move([, to]: Move, ...disk: DiskOptions): Promise<unknown> {
    return this.#place(to, ...disk);
  }

  #place(to: PlaceName, ...disk: DiskOptions): Promise<unknown> {
    const named = to === 'repository' ? this.#other : to === 'own branch' ? ownBranch : undefined;
    return place(this.repo.root, named, this.memories.clock, ...disk);
  }

  /** Checks that nothing was lost, and that the same command finishes the move. */
  async check(move: Move, where: string): Promise<void> {
    const { memories, repo, other } = this;
    const mine = [' M README.md', 'A  staged.txt'];
    expect(await memories.keys(repo.root), where).toEqual(['a', 'b']);
    expect(repo.status(), where).toEqual(mine);
    expect([repo.fsck(), other.fsck()], where).toEqual(['', '']);
    await memories.close();
    await this.move(move);
    await memories.put(repo.root, 'c');
    expect(await memories.keys(repo.root), where).toEqual(['a', 'b', 'c']);
    expect(repo.status(), where).toEqual(mine);
    expect([repo.fsck(), other.fsck()], where).toEqual(['', '']);
  }

  async end(): Promise<void> {
    await this.memories.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

type PlaceName = 'branches' | 'own branch' | 'repository';
type Move = readonly [from: PlaceName, to: PlaceName];
type DiskOptions =
  Parameters<typeof place> extends [unknown, unknown, unknown, ...infer R] ? Partial<R> : never;

const moves: readonly Move[] = [
  ['branches', 'own branch'],
  ['own branch', 'branches'],
  ['branches', 'repository'],
  ['repository', 'branches'],
  ['own branch', 'repository'],
];

let ground: Ground | undefined;
afterEach(() => ground?.end());

async function begin(move: Move): Promise<Ground> {
  await ground?.end();
  ground = new Ground();
  return ground.prepare(move);
}

/** The operations of a move that change the disk, by their numbers. */
async function pointsOf(move: Move): Promise<{ readonly n: number; readonly what: string }[]> {
  const files = new FaultFiles();
  await (await begin(move)).move(move, files);
  return files.log
    .map((what, i) => ({ n: i + 1, what }))
    .filter(({ what }) => !reading.has(what.split(' ', 1)[0] as Operation));
}

const faults: readonly (readonly [string, (n: number) => FaultPlan])[] = [
  ['a process that dies', (n) => (i) => (i === n ? { kind: 'kill' } : undefined)],
  ['an error of the disk', (n) => (i) => (i === n ? { kind: 'error', code: 'EIO' } : undefined)],
  [
    'a full disk',
    (n) => (i, operation) =>
      i >= n && ['create', 'write', 'mkdir', 'link'].includes(operation)
        ? { kind: 'error', code: 'ENOSPC' }
        : undefined,
  ],
];

describe.each(sample(moves, 1))('a move from %s to %s', (...move) => {
  test.each(sample(faults, 1))('loses nothing by %s', async (_, plan) => {
    const random = new Random(seed);
    const points = await pointsOf(move);
    for (let i = 0; i < (isFull ? 6 : 2); i++) {
      const { n, what } = points[random.below(points.length)] ?? { n: 1, what: '' };
      const here = await begin(move);
      const files = new FaultFiles();
      files.plan = plan(n);
      await here.move(move, files).catch(() => undefined);
      if (files.dead) bury(here.repo.root);
      if (files.dead) bury(here.other.root);
      await here.check(move, `${move.join(' to ')}: ${what} (${n}, seed ${seed})`);
    }
  });

  deep('loses nothing by a power cut', async () => {
    const random = new Random(seed);
    const here = await begin(move);
    const before = `${here.folder}-before`;
    execFileSync('cp', ['-a', here.folder, before]);
    const files = new PowerCutFiles(here.folder);
    await here.move(move, files, 'full');
    for (let i = 0; i < 6; i++) {
      const moment = random.below(files.length + 1);
      const ordering: Ordering = i % 2 === 0 ? 'journal' : 'tree-log';
      rmSync(here.folder, { recursive: true });
      execFileSync('cp', ['-a', before, here.folder]);
      files.cut(here.folder, moment, ordering, random);
      for (const { root } of [here.repo, here.other]) bury(root, true);
      await here.check(move, `${move.join(' to ')}: power cut at ${moment}, ${ordering}`);
    }
    rmSync(before, { recursive: true });
  });
});
