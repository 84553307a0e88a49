import { dirname } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { missingRepository, storageError } from '../disk/storage-error.ts';
import type { LockWait } from './lock.ts';
import { ProcessLock } from './process-lock.ts';
import type { ProcessToken } from './token.ts';

/** Cleans up after a dead process, given its token id and the names of its files in our folder. */
export type Recover = (token: ProcessToken, id: string, names: readonly string[]) => Promise<void>;

/** A turn with the process lock. */
interface Turn {
  readonly token: ProcessToken;
  readonly wait: LockWait;
}

/** Runs changes of one repository one at a time, across all its servers. */
export class RepositoryQueue {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #limit: number;
  readonly #recover: Recover;
  #lock: ProcessLock | undefined;
  /** Whether this process holds the process lock. */
  #working = false;
  #queue: Promise<unknown> = Promise.resolve();
  /** The token and the wait of the action that holds the lock for several changes. */
  #held: Turn | undefined;

  /**
   * @param folder our own folder in the common git directory.
   * @param limit how long to wait for a lock of another process, in milliseconds.
   */
  constructor(disk: Disk, folder: string, limit: number, recover: Recover) {
    this.#disk = disk;
    this.#folder = folder;
    this.#limit = limit;
    this.#recover = recover;
  }

  /**
   * Runs an action under the process lock, after cleaning up after dead processes.
   *
   * @param action gets the token of this process, and how long to wait for the locks of others.
   * @param create whether a missing git directory is created.
   */
  take<T>(
    signal: AbortSignal | undefined,
    action: (token: ProcessToken, wait: LockWait) => Promise<T>,
    create = false,
  ): Promise<T> {
    const run = async () => {
      if (this.#held) return action(this.#held.token, this.#held.wait);
      try {
        const commonDir = dirname(this.#folder);
        // The user may have moved it away: creating our folder must not bring it back.
        if (!create && !this.#disk.files.lstat(commonDir)) throw missingRepository(commonDir);
        await this.#disk.settle(this.#disk.makeDirectories(this.#folder));
        const lock = this.#processLock();
        const wait = { limit: this.#limit, ...(signal && { signal }) };
        const token = await lock.take(wait);
        this.#working = true;
        try {
          for (const [id, names] of lock.leftovers()) await this.#recover(token, id, names);
          return await action(token, wait);
        } finally {
          this.#working = false;
          lock.release(token);
        }
      } catch (error) {
        throw storageError(error, 'change the memory');
      }
    };
    const result = this.#queue.then(run, run);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /**
   * Holds the process lock during several changes, so that no other server changes anything between
   * them. All changes of this queue meanwhile belong to the action.
   */
  hold<T>(action: () => Promise<T>): Promise<T> {
    return this.take(undefined, async (token, wait) => {
      const outer = this.#queue;
      this.#held = { token, wait };
      // The changes of the action do not wait for its end.
      this.#queue = Promise.resolve();
      try {
        return await action();
      } finally {
        for (let last: unknown; last !== this.#queue; await last) last = this.#queue;
        this.#held = undefined;
        this.#queue = outer;
      }
    });
  }

  /**
   * Finishes or undoes the mutation of a process that died in the middle of one, so that nothing reads
   * a half-done change. Creates nothing.
   */
  async repair(): Promise<void> {
    // While a mutation of this process runs, the files in our folder belong to it.
    if (this.#working) return;
    const lock = this.#processLock();
    const left = [...lock.leftovers().values()].flat();
    // The lock of a dead process blocks nothing before the next mutation.
    if (left.every((name) => name.startsWith('break-') || lock.isAtRest(name))) return;
    await this.take(undefined, async () => undefined);
  }

  /** Removes the files of this process; a change that runs goes on. */
  close(): void {
    if (!this.#working) this.#lock?.close();
  }

  #processLock(): ProcessLock {
    this.#lock ??= new ProcessLock(this.#disk, this.#folder);
    return this.#lock;
  }
}
