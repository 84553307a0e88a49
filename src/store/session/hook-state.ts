import { join } from 'node:path';
import type { LocalState } from '../../core/memory/store.ts';
import { MemoryError } from '../../core/values/error.ts';
import { Disk } from '../../git/disk/disk.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { ProcessLock } from '../../git/locks/process-lock.ts';
import { findWorkTree, type WorkTree } from '../../git/repository/discover.ts';
import { unflushedDisk } from '../../git/repository/shared-repository.ts';
import { LocalFile } from '../records/local-state.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { ShownCounts } from './shown-counts.ts';

/** How long a hook waits for another one, in milliseconds; the client waits for both. */
const longestWait = 1_500;

/** The state of the hooks of a clone, in a folder of the git directory with a lock of its own. */
export class HookState {
  readonly local: LocalState;
  readonly shown: ShownCounts;
  readonly #disk: Disk;
  /** Undefined outside a repository: nothing is stored. */
  readonly #folder: string | undefined;

  constructor(files: Files, tree: WorkTree | undefined) {
    this.#disk = tree ? unflushedDisk(files, tree) : new Disk(files, 'relaxed');
    this.#folder = tree && join(tree.commonDir, 'memory-bank', 'hooks');
    this.local = new LocalFile(this.#disk, () => this.#folder);
    this.shown = new ShownCounts(this.#disk, this.#folder);
  }

  /** @param path of the memory folder. */
  static at(path: string): HookState {
    const files = new NodeFiles();
    return new HookState(files, findWorkTree(files, join(path, '..')));
  }

  /** Does work while no other hook of this clone does; without the lock if that takes too long. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    if (this.#folder === undefined) return work();
    this.#disk.makeDirectories(this.#folder);
    const lock = new ProcessLock(this.#disk, this.#folder);
    const token = await lock.take({ limit: longestWait }).catch((error: unknown) => {
      if (error instanceof MemoryError) return undefined;
      throw error;
    });
    try {
      return await work();
    } finally {
      if (token) lock.release(token);
      lock.close();
    }
  }
}

/**
 * Returns a function that counts records of a memory that were read or cited as new again.
 *
 * A failure costs no more than a text too few in a hook, so no call fails because of it.
 */
export function usedRecords(memory: MemoryFolder) {
  let state: HookState | undefined;
  return async (isUsed: (path: string) => boolean): Promise<void> => {
    try {
      if (!memory.repository()) return;
      state ??= HookState.at(memory.path);
      const { shown } = state;
      if (shown.some(isUsed)) await state.exclusively(() => shown.forget(isUsed));
    } catch {
      // The repository cannot be read, or the git directory not be written.
    }
  };
}
