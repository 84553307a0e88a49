import type { WorkspaceOptions } from '../../src/core/declarations/workspace.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import type { MemoryPlace } from '../../src/git/repository/memory-place.ts';
import { type MovePlan, planMove } from '../../src/store/placement/move-memory.ts';
import { findMemory, openWorkspace } from '../../src/store/session/open-workspace.ts';
import { note } from './note.ts';
import { Opened } from './open.ts';
import { gitEnv } from './repo.ts';

/** A clock that all memories of a test share: each look is a second later. */
export class Clock {
  #time = Date.UTC(2026, 0, 2, 3, 4, 5);
  readonly now = (): Date => {
    this.#time += 1000;
    return new Date(this.#time);
  };
}

const ground = { env: gitEnv, calm: 0, lockTimeout: 5000 };

/** Moves the memory of a project. */
export async function place(
  root: string,
  to: MemoryPlace | undefined,
  clock: Clock,
  files: Files = new NodeFiles(),
  durability: 'full' | 'relaxed' = 'relaxed',
): Promise<MovePlan> {
  const disk = new Disk(files, durability);
  const warn = () => undefined;
  const move = await planMove({ ...ground, disk, now: clock.now, warn }, root, to);
  try {
    await move.carryOut();
    return move.plan;
  } finally {
    move.close();
  }
}

/** The servers of a test, which find the memory of a project again before each call. */
export class PlacedMemories {
  readonly clock = new Clock();
  readonly warnings: string[] = [];
  readonly #open = new Map<string, Opened>();
  readonly #options: Pick<WorkspaceOptions, 'durability' | 'now' | 'warn'> = {
    durability: 'relaxed',
    now: this.clock.now,
    warn: (message) => this.warnings.push(message),
  };
  readonly #finder = findMemory(this.#options, ground);

  /** Opens the memory of a project, where it is now; finished branches are merged first. */
  async at(root: string): Promise<Opened> {
    const { folder, finished } = await this.#finder.find(root);
    const key = `${root} ${folder}`;
    const known = this.#open.get(key) ?? new Opened(await this.#start(root, folder));
    this.#open.set(key, known);
    for (const branch of finished) {
      await known.call.history.merge(branch, { ours: [], theirs: [] });
    }
    return known;
  }

  #start(root: string, folder: string) {
    return openWorkspace(
      { ...this.#options, root, folder, repository: 'enclosing', records: [note] },
      { ...ground, learnAfter: Number.POSITIVE_INFINITY },
    );
  }

  async put(root: string, key: string, text = 'text'): Promise<void> {
    const { call } = await this.at(root);
    await call.store.change({ subject: `put ${key}` }, (draft) =>
      draft.put(note, { key, tags: [], text }),
    );
  }

  /** The keys of the notes, in order. */
  async keys(root: string): Promise<string[]> {
    const { records } = await (await this.at(root)).call.store.list(note);
    return records.map(({ value }) => value.key).sort();
  }

  async close(): Promise<void> {
    for (const { workspace } of this.#open.values()) await workspace.close();
    this.#open.clear();
  }
}
