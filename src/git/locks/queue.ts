import { dirname } from 'node:path';
import { type Disk, missingRepository, storageError } from '../disk/disk.ts';
import type { LockWait } from './lock.ts';
import { ProcessLock } from './process-lock.ts';
import type { ProcessToken } from './token.ts';

/** Cleans up after a dead process; gets its token's id and the names of its files in our folder. */
export type Recover = (token: ProcessToken, id: string, names: readonly string[]) => Promise<void>;

/** The turns that the servers of one repository take at changing it. */
export class RepositoryQueue {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #limit: number;
  readonly #recover: Recover;
  #lock: ProcessLock | undefined;
  /** Whether it is this process's turn. */
  #working = false;
  #queue: Promise<unknown> = Promise.resolve();

  /**
   * @param folder our own folder in the common git directory.
   * @param limit how long to wait for a lock of others, in milliseconds.
   */
  constructor(disk: Disk, folder: string, limit: number, recover: Recover) {
    this.#disk = disk;
    this.#folder = folder;
    this.#limit = limit;
    this.#recover = recover;
  }

  /**
   * Runs an action alone among the servers of this repository, after cleaning up behind dead ones.
   *
   * @param action gets the token of the turn, and how long to wait for the locks of others.
   * @param create whether the git directory is made where it is missing.
   */
  take<T>(
    signal: AbortSignal | undefined,
    action: (token: ProcessToken, wait: LockWait) => Promise<T>,
    create = false,
  ): Promise<T> {
    const run = async () => {
      try {
        const commonDir = dirname(this.#folder);
        // Somebody may have moved it away: our own folder in it must not bring it back.
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
   * Finishes or undoes the mutation of a process that died in the middle of one, so that its half is
   * not read as the truth. Creates nothing.
   */
  async repair(): Promise<void> {
    // While a mutation of ours is at work, what is left here belongs to it.
    if (this.#working) return;
    const lock = this.#processLock();
    const left = [...lock.leftovers().values()].flat();
    // A dead process's own lock is in nobody's way before the next mutation.
    if (left.every((name) => name.startsWith('break-') || lock.isAtRest(name))) return;
    await this.take(undefined, async () => undefined);
  }

  /** Leaves nothing of this process behind; what is under way goes on. */
  close(): void {
    if (!this.#working) this.#lock?.close();
  }

  #processLock(): ProcessLock {
    this.#lock ??= new ProcessLock(this.#disk, this.#folder);
    return this.#lock;
  }
}
