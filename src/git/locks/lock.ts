import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../../core/error.ts';
import type { Disk } from '../disk/disk.ts';
import { errno, type Stat } from '../disk/file-layer.ts';
import type { ProcessToken } from './token.ts';

/** How long to wait for locks of others, and how often to look, in milliseconds. */
export interface LockWait {
  readonly limit: number;
  readonly signal?: AbortSignal;
}

const firstPause = 2;
const longestPause = 10;
/** More than passes between two looks of one who waits, in milliseconds. */
export const longestGap = 2 * longestPause;

/**
 * Runs `attempt` until it succeeds or wait ends.
 *
 * @throws MemoryError `busy` from `onTimeout`, or `cancelled`.
 */
export async function waitFor<T>(
  attempt: () => T | undefined | Promise<T | undefined>,
  wait: LockWait,
  onTimeout: () => MemoryError,
): Promise<T> {
  const end = performance.now() + wait.limit;
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    if (wait.signal?.aborted) {
      throw new MemoryError('cancelled', 'The call was cancelled; nothing was changed.');
    }
    const result = await attempt();
    if (result !== undefined) return result;
    if (performance.now() >= end) throw onTimeout();
    // A random share keeps several waiters from looking in step.
    await sleep(pause * (0.5 + Math.random()));
  }
}

/** What a lock of git's protects. */
export type LockRole = 'index' | 'head' | 'ref';

/**
 * A lock of git's own (`index.lock`, `HEAD.lock`, `refs/heads/main.lock`).
 *
 * It is made as a second link to a file in our folder whose name carries our token: if this process
 * dies, the inode proves that the lock is ours, and nobody else's lock is ever removed.
 */
export class GitLock {
  readonly path: string;
  /** Our link to the same file. */
  readonly proof: string;
  /** Folders whose entries have changed because folders had to be made for the lock. */
  readonly changed: string[] = [];
  readonly #disk: Disk;
  /** Open for writing, until it is filled. */
  #fd: number | undefined;
  /** Whether nothing of it is left to let go of. */
  #over = false;

  private constructor(disk: Disk, path: string, proof: string) {
    this.#disk = disk;
    this.path = path;
    this.proof = proof;
  }

  /**
   * @param target the file to lock.
   * @param role what kind of file that is; a mutation takes one lock of each.
   * @param folder our own folder in the common git directory.
   * @throws MemoryError `busy` naming the lock of another.
   */
  static async take(
    disk: Disk,
    target: string,
    role: LockRole,
    folder: string,
    token: ProcessToken,
    wait: LockWait,
  ): Promise<GitLock> {
    const path = `${target}.lock`;
    const proof = join(folder, `${role}-${token.id}`);
    const lock = new GitLock(disk, path, proof);
    try {
      lock.#fd = disk.files.open(proof, 'wx', 0o666);
      await waitFor(
        () => (lock.#tryTake(role) ? true : undefined),
        wait,
        () => busy(path),
      );
    } catch (error) {
      lock.leave();
      disk.tryDiscard(proof);
      throw error;
    }
    return lock;
  }

  /**
   * Takes over the lock of a dead process; undefined when that lock is not there any more.
   *
   * @param proof the dead process's own link to it.
   */
  static adopt(disk: Disk, target: string, proof: string): GitLock | undefined {
    const lock = new GitLock(disk, `${target}.lock`, proof);
    return lock.isOurs() ? lock : undefined;
  }

  /** Whether the lock is still the file that this process made: a person may have removed it. */
  isOurs(): boolean {
    const ino = this.#disk.files.lstat(this.proof)?.ino;
    return ino !== undefined && this.#disk.files.lstat(this.path)?.ino === ino;
  }

  /**
   * When the lock was made or last filled, by the clock of its file system; in nanoseconds.
   *
   * @throws MemoryError `busy` when the lock is not ours any more.
   */
  get timeNs(): bigint {
    const stat = this.#disk.files.lstatExact(this.proof);
    if (!stat) throw removed(this.path);
    return stat.mtimeNs;
  }

  /**
   * Fills the lock with what its target is to hold; what that looks like on disk.
   *
   * It writes through our own link: under the lock's name may lie another's by now.
   *
   * @param time of its last change, in seconds. Default: that of the write.
   */
  fill(pieces: readonly Uint8Array[], time?: number): Promise<Stat> {
    const fd = this.#fd;
    if (fd === undefined) return this.#disk.fill(this.proof, pieces, time);
    this.#fd = undefined;
    return this.#disk.finish(fd, pieces, time);
  }

  /** @throws MemoryError `busy` when the lock is not ours any more. */
  check(): void {
    if (this.isOurs()) return;
    throw removed(this.path);
  }

  /** Puts the filled lock in its target's place; this is the moment of the change. */
  commit(target: string): void {
    this.check();
    this.#disk.files.replace(this.path, target);
    this.#disk.tryDiscard(this.proof);
    this.#over = true;
  }

  /** Lets go. It throws nothing: whoever takes the process lock next removes what stays. */
  release(): void {
    this.leave();
    if (this.#over) return;
    try {
      if (this.isOurs()) this.#disk.discard(this.path);
      this.#disk.discard(this.proof);
      this.#over = true;
    } catch (error) {
      if (errno(error) === undefined) throw error;
    }
  }

  /** Stays, for whoever cleans up. */
  leave(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    try {
      this.#disk.files.close(fd);
    } catch (error) {
      if (errno(error) === undefined) throw error;
    }
  }

  #tryTake(role: LockRole): boolean {
    // Git removes a folder of refs, at any time, when it has packed the last of them.
    if (role === 'ref') this.changed.push(...this.#disk.makeDirectories(dirname(this.path)));
    try {
      this.#disk.files.link(this.proof, this.path);
      return true;
    } catch (error) {
      // A network disk may have done what it says has failed.
      if (this.isOurs()) return true;
      if (errno(error) === 'EEXIST') return false;
      if (errno(error) === 'ENOENT' && role === 'ref') return false;
      throw error;
    }
  }
}

function removed(lock: string): MemoryError {
  return new MemoryError('busy', `The lock ${lock} was removed while it was in use.`, {
    hint: 'Nothing was changed. Try again.',
  });
}

/** What helps where git is at work. */
export const waitForGit =
  'Wait for git to finish, or close the editor of a "git commit". "memory-bank doctor" lists the locks.';

/** The error about a lock of git's that another holds. */
export function busy(lock: string): MemoryError {
  return new MemoryError('busy', `Another git process holds ${lock}.`, {
    hint: waitForGit,
    data: { lock },
  });
}
