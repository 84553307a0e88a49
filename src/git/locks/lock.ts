import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../../core/error.ts';
import type { Disk } from '../disk/disk.ts';
import { errno, type Stat } from '../disk/file-layer.ts';
import type { ProcessToken } from './token.ts';

/** How long to wait for locks of other processes, in milliseconds, and the signal that cancels it. */
export interface LockWait {
  readonly limit: number;
  readonly signal?: AbortSignal;
}

const firstPause = 2;
const longestPause = 10;
/** Upper bound of the time between two polls of a waiter, in milliseconds. */
export const longestGap = 2 * longestPause;

/** Milliseconds since this process began; the `performance` of node would delay the start of a hook. */
export function monotonicTime(): number {
  return 1000 * process.uptime();
}

/**
 * Polls `attempt` until it returns a value or the limit is reached.
 *
 * @throws MemoryError `busy` from `onTimeout`, or `cancelled`.
 */
export async function waitFor<T>(
  attempt: () => T | undefined | Promise<T | undefined>,
  wait: LockWait,
  onTimeout: () => MemoryError,
): Promise<T> {
  const end = monotonicTime() + wait.limit;
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    if (wait.signal?.aborted) {
      throw new MemoryError('cancelled', 'The call was cancelled; nothing was changed.');
    }
    const result = await attempt();
    if (result !== undefined) return result;
    if (monotonicTime() >= end) throw onTimeout();
    // Jitter keeps several waiters from polling in step.
    await sleep(pause * (0.5 + Math.random()));
  }
}

/** The files that locks of git protect. */
export const lockRoles = ['index', 'head', 'ref', 'packed', 'config'] as const;
export type LockRole = (typeof lockRoles)[number];

/**
 * One of git's own locks (`index.lock`, `HEAD.lock`, `refs/heads/main.lock`).
 *
 * The lock is a second link to a file in our folder whose name contains our token. If this process
 * dies, the inode proves that the lock is ours, so a lock of another process is never removed.
 */
export class GitLock {
  readonly path: string;
  /** Our link to the same file. */
  readonly proof: string;
  /** Folders whose entries changed because folders were created for the lock. */
  readonly changed: string[] = [];
  readonly #disk: Disk;
  /** Open for writing, until it is filled. */
  #fd: number | undefined;
  /** Whether the lock is committed or released. */
  #over = false;

  private constructor(disk: Disk, path: string, proof: string) {
    this.#disk = disk;
    this.path = path;
    this.proof = proof;
  }

  /**
   * @param target the file to lock.
   * @param role the kind of that file; a mutation takes one lock of each.
   * @param folder our own folder in the common git directory.
   * @throws MemoryError `busy` with the path of the lock that another process holds.
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
   * Takes over the lock of a dead process; undefined if that lock no longer exists.
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
   * When the lock was created or last filled, by the clock of its file system, in nanoseconds.
   *
   * @throws MemoryError `busy` when our link to the lock is gone.
   */
  get timeNs(): bigint {
    const stat = this.#disk.files.lstatExact(this.proof);
    if (!stat) throw removed(this.path);
    return stat.mtimeNs;
  }

  /**
   * Writes the new content of the target into the lock.
   *
   * It writes through our own link, because the lock's name may belong to another process by now.
   *
   * @param time of its last change, in seconds. Default: the time of the write.
   * @param permissions of the target, where it has other ones than a new file.
   * @returns its stat.
   */
  fill(pieces: readonly Uint8Array[], time?: number, permissions?: number): Promise<Stat> {
    const fd = this.#fd;
    if (fd === undefined) return this.#disk.fill(this.proof, pieces, time);
    if (permissions !== undefined) this.#disk.files.chmod(fd, permissions & 0o777);
    this.#fd = undefined;
    return this.#disk.finish(fd, pieces, time);
  }

  /** @throws MemoryError `busy` when the lock is no longer ours. */
  check(): void {
    if (this.isOurs()) return;
    throw removed(this.path);
  }

  /** Renames the filled lock to its target. */
  commit(target: string): void {
    this.check();
    this.#disk.files.replace(this.path, target);
    this.#disk.tryDiscard(this.proof);
    this.#over = true;
  }

  /** Releases the lock. It does not throw: the next holder of the process lock removes what is left. */
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

  /** Closes the file and keeps the lock, for the next process that cleans up. */
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
    // Git removes a folder of refs at any time, when it has packed the last of them.
    if (role === 'ref') this.changed.push(...this.#disk.makeDirectories(dirname(this.path)));
    try {
      this.#disk.files.link(this.proof, this.path);
      return true;
    } catch (error) {
      // A network disk may report an error for a link that it made.
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

/** The hint for a lock that git holds. */
export const waitForGit =
  'Wait for git to finish, or close the editor of a "git commit". "memory-bank doctor" lists the locks.';

/** The error for a lock of git that another process holds. */
export function busy(lock: string): MemoryError {
  return new MemoryError('busy', `Another git process holds ${lock}.`, {
    hint: waitForGit,
    data: { lock },
  });
}
