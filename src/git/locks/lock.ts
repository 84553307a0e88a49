import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { errno, type Files, type Stat } from '../disk/file-layer.ts';
import type { Features } from '../disk/file-system.ts';
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
 *
 * On a file system without hard links, the lock is created exclusively and contains our token. Its
 * target is then replaced by the file in our folder.
 */
export class GitLock {
  readonly path: string;
  /** Our link to the same file; without hard links, the new content of the target. */
  readonly proof: string;
  /** Id of the token of the process that made the lock. */
  readonly #id: string;
  /** Whether the lock is a hard link. */
  readonly #linked: boolean;
  /** Whether its target can get the time of the lock. */
  readonly keepsTime: boolean;
  /** Folders whose entries changed because folders were created for the lock. */
  readonly changed: string[] = [];
  readonly #disk: Disk;
  readonly #role: LockRole;
  /** Open for writing, until it is filled. */
  #fd: number | undefined;
  /** Whether the lock is committed or released. */
  #over = false;

  private constructor(
    disk: Disk,
    target: string,
    role: LockRole,
    proof: string,
    id: string,
    features: Omit<Features, 'modes'>,
  ) {
    [this.#disk, this.path, this.proof] = [disk, `${target}.lock`, proof];
    this.#role = role;
    [this.#id, this.#linked, this.keepsTime] = [id, features.links, features.times];
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
    const lock = GitLock.open(disk, target, role, folder, token);
    await lock.acquire(wait);
    return lock;
  }

  /** Makes our own file for a lock, which can be filled before the lock is acquired. */
  static open(
    disk: Disk,
    target: string,
    role: LockRole,
    folder: string,
    token: ProcessToken,
  ): GitLock {
    const proof = proofPath(folder, role, token.id);
    const lock = new GitLock(disk, target, role, proof, token.id, disk.features(folder, token.id));
    try {
      lock.#fd = disk.openNew(proof, 'wx');
    } catch (error) {
      disk.tryDiscard(proof);
      throw error;
    }
    return lock;
  }

  /**
   * Takes a lock that was opened.
   *
   * @throws MemoryError `busy` with the path of the lock that another process holds.
   */
  async acquire(wait: LockWait): Promise<void> {
    try {
      await waitFor(
        async () => ((await this.tryAcquire()) ? true : undefined),
        wait,
        () => busy(this.path),
      );
    } catch (error) {
      this.leave();
      this.#disk.tryDiscard(this.proof);
      throw error;
    }
  }

  /**
   * Takes over the lock of a dead process; undefined if that lock no longer exists.
   *
   * @param id of the token of that process.
   */
  static adopt(
    disk: Disk,
    target: string,
    role: LockRole,
    folder: string,
    id: string,
  ): GitLock | undefined {
    // Only the owner of a file sets its time.
    const proof = proofPath(folder, role, id);
    const times = disk.features(folder, id).times && !isForeign(disk.files, proof);
    const links = !holdsToken(disk.files, `${target}.lock`, id);
    const lock = new GitLock(disk, target, role, proof, id, { times, links });
    return lock.isOurs() ? lock : undefined;
  }

  /** Takes a lock that was opened, unless another process holds it; returns whether it is taken. */
  async tryAcquire(): Promise<boolean> {
    // Git removes a folder of refs at any time, when it has packed the last of them.
    if (this.#role === 'ref') this.changed.push(...this.#disk.makeDirectories(dirname(this.path)));
    try {
      if (this.#linked) this.#disk.files.link(this.proof, this.path);
      else await this.#disk.create(this.path, [tokenLine(this.#id)]);
      return true;
    } catch (error) {
      // A network disk may report an error for a link that it made.
      if (this.isOurs()) return true;
      if (errno(error) === 'EEXIST') return false;
      if (errno(error) === 'ENOENT' && this.#role === 'ref') return false;
      throw error;
    }
  }

  /** Whether nobody holds the lock at the moment. */
  get isFree(): boolean {
    return this.#disk.files.lstat(this.path) === undefined;
  }

  /** Whether the lock is still the file that this process made: a person may have removed it. */
  isOurs(): boolean {
    const { files } = this.#disk;
    if (!this.#linked) return holdsToken(files, this.path, this.#id);
    return areLinked(files.lstat(this.proof), files.lstat(this.path));
  }

  /**
   * When the lock was created or last filled, by the clock of its file system, in nanoseconds.
   *
   * @throws MemoryError `busy` when our link to the lock is gone.
   */
  get timeNs(): bigint {
    const { files } = this.#disk;
    // The process that made a lock without hard links may have used its file up.
    const stat =
      files.lstatExact(this.proof) ?? (this.#linked ? undefined : files.lstatExact(this.path));
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
    const isThere = this.#fd !== undefined || this.#disk.files.lstat(this.proof) !== undefined;
    if (this.#fd === undefined && isThere) return this.#disk.fill(this.proof, pieces, time);
    // The process that made the lock has used its file up.
    const fd = this.#fd ?? this.#disk.openNew(this.proof, 'wx');
    if (permissions !== undefined) this.#disk.setMode(fd, permissions);
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
    if (this.#linked) {
      this.#disk.files.replace(this.path, target);
      this.#disk.tryDiscard(this.proof);
      this.#over = true;
    } else {
      // If the lock stays behind, the release tries again.
      this.#disk.files.replace(this.proof, target);
      this.#disk.tryDiscard(this.path);
    }
  }

  /** Gives the lock to others and keeps our own file, with which it can be acquired again. */
  free(): void {
    // A link to an open file can stay on Windows until the file is closed.
    this.leave();
    if (this.isOurs()) this.#disk.discard(this.path);
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
}

/** Whether a file belongs to another user than that of this process. */
function isForeign(files: Files, path: string): boolean {
  const user = process.geteuid?.();
  const owner = files.lstatExact(path)?.uid;
  return user !== undefined && owner !== undefined && owner !== BigInt(user);
}

/** The path of a process's own file for a lock. */
export function proofPath(folder: string, role: LockRole, id: string): string {
  return join(folder, `${role}-${id}`);
}

/**
 * Whether the stats of two paths are of one file with hard links. An inode does not say that alone: those of
 * Windows have more digits than a number of JavaScript.
 */
export function areLinked(a: Stat | undefined, b: Stat | undefined): boolean {
  if (a === undefined || b === undefined || a.ino !== b.ino) return false;
  return a.links > 1 && b.links > 1 && a.size === b.size && a.mtimeMs === b.mtimeMs;
}

/** The content of a lock that is not a hard link. */
function tokenLine(id: string): Buffer {
  return Buffer.from(`memory-bank ${id}\n`, 'latin1');
}

/** Whether a lock was made without hard links by the process with this token. */
export function holdsToken(files: Files, path: string, id: string): boolean {
  const line = tokenLine(id);
  const stat = files.lstat(path);
  if (stat?.kind !== 'file' || stat.size !== line.length) return false;
  return files.read(path)?.equals(line) ?? false;
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
