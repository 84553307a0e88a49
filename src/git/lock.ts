import { statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../core/error.ts';
import type { Disk } from './disk.ts';
import { errno, type Stat } from './files.ts';
import { isDead, newToken, parseToken, type Token } from './token.ts';

/** How long to wait for locks of others, and how often to look, in milliseconds. */
export interface Patience {
  readonly limit: number;
  readonly signal?: AbortSignal;
}

const firstPause = 2;
const longestPause = 50;
/** After this nobody needs the `owner-` file of a process that does nothing, in milliseconds. */
const idleTime = 24 * 3_600_000;

/**
 * Runs `attempt` until it succeeds or patience ends.
 *
 * @throws MemoryError `busy` from `onTimeout`, or `cancelled`.
 */
export async function waitFor<T>(
  attempt: () => T | undefined | Promise<T | undefined>,
  patience: Patience,
  onTimeout: () => MemoryError,
): Promise<T> {
  const end = performance.now() + patience.limit;
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    if (patience.signal?.aborted) {
      throw new MemoryError('cancelled', 'The call was cancelled; nothing was changed.');
    }
    const result = await attempt();
    if (result !== undefined) return result;
    if (performance.now() >= end) throw onTimeout();
    // A random share keeps several waiters from looking in step.
    await sleep(pause * (0.5 + Math.random()));
  }
}

/**
 * The ids of tokens that this process is done with although the disk did not let go of their files:
 * their holder is as good as dead.
 */
const ended = new Set<string>();

/**
 * The lock that keeps the servers of one repository apart: `memory-bank/lock` in the common git
 * directory, a hard link to a file that names its holder.
 *
 * A lock is taken from a holder only when he is proved dead, never because it is old: a stopped
 * process is alive. Who removes a dead holder's lock holds a lock of its own for that, named after
 * the dead one's token, so that two who find it dead cannot remove a third's.
 */
export class ProcessLock {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #local: boolean;
  /** For all turns of this process, as long as none of them leaves anything behind. */
  #token: Token | undefined;

  /** @param folder our own folder in the common git directory; it must exist. */
  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
    this.#local = isLocal(folder);
  }

  async take(patience: Patience): Promise<Token> {
    const token = this.#token ?? newToken();
    this.#token = token;
    const own = this.#path(ownerName(token.id));
    const bytes = Buffer.from(`${JSON.stringify(token)}\n`);
    const attempt = async () => {
      // Who cleans up may have seen this file before it was whole, and taken it for a dead one's.
      if (!this.#disk.files.lstat(own)) await this.#disk.create(own, [bytes]);
      return this.#tryTake('lock', own) ? token : undefined;
    };
    try {
      return await waitFor(attempt, patience, () => this.#busy());
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Lets go. It throws nothing, for what it ends may be done: a file that stays is removed later. */
  release({ id }: Token): void {
    this.#quietly(id, () => {
      const names = this.#disk.files.list(this.#folder) ?? [];
      // What has left something behind is over, so that whoever comes next cleans up after it.
      if (names.some(({ name }) => name !== ownerName(id) && name.endsWith(id))) this.close();
    });
    this.#quietly(id, () => {
      if (this.#read('lock')?.id === id) this.#disk.discard(this.#path('lock'));
    });
  }

  /** Gives up the token, so that nothing of it stays; a later turn takes another. */
  close(): void {
    const { id } = this.#token ?? {};
    this.#token = undefined;
    if (id !== undefined) this.#quietly(id, () => this.#disk.discard(this.#path(ownerName(id))));
  }

  #quietly(id: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (errno(error) === undefined) throw error;
      this.#token = undefined;
      ended.add(id);
    }
  }

  /**
   * Names in our folder of what processes that are dead, or that gave up, have left behind, by the
   * id of the token at their end. Those of a token whose `owner-` file is there are a living process's.
   */
  leftovers(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>();
    for (const { name } of this.#disk.files.list(this.#folder) ?? []) {
      const id = /^[a-z]+-([0-9a-z]+-[0-9a-f]{16})$/.exec(name)?.[1];
      if (id !== undefined) found.set(id, [...(found.get(id) ?? []), name]);
    }
    if (this.#token) found.delete(this.#token.id);
    for (const [id, names] of found) {
      const owner = this.#read(ownerName(id));
      if (owner && !this.#isGone(owner) && !this.#isIdle(names)) found.delete(id);
    }
    return found;
  }

  /**
   * Whether nothing is left but an `owner-` file, and that for long: of a process in a container that
   * is gone, perhaps. Should it live, it makes the file again.
   */
  #isIdle([name = '', ...others]: readonly string[]): boolean {
    const { mtimeMs = Date.now() } = this.#disk.files.lstat(this.#path(name)) ?? {};
    return others.length === 0 && mtimeMs < Date.now() - idleTime;
  }

  #isGone(holder: Token): boolean {
    return ended.has(holder.id) || isDead(holder, this.#local);
  }

  #tryTake(name: string, own: string): boolean {
    if (this.#link(own, name)) return true;
    const holder = this.#read(name);
    if (!holder || !this.#isGone(holder)) return false;
    const breaking = `break-${holder.id}`;
    if (!this.#tryTake(breaking, own)) return false;
    if (this.#read(name)?.id === holder.id) this.#disk.discard(this.#path(name));
    this.#disk.discard(this.#path(breaking));
    return this.#link(own, name);
  }

  #link(own: string, name: string): boolean {
    try {
      this.#disk.files.link(own, this.#path(name));
      return true;
    } catch (error) {
      // A network disk may have done what it says has failed.
      const { ino } = this.#disk.files.lstat(own) ?? {};
      if (ino !== undefined && this.#disk.files.lstat(this.#path(name))?.ino === ino) return true;
      if (errno(error) === 'EEXIST' || errno(error) === 'ENOENT') return false;
      throw error;
    }
  }

  #read(name: string): Token | undefined {
    return parseToken(this.#disk.files.read(this.#path(name))?.toString('utf8') ?? '');
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #busy(): MemoryError {
    const holder = this.#read('lock');
    const lock = this.#path('lock');
    const who = holder ? `the memory-bank process ${holder.pid}` : 'another memory-bank process';
    return new MemoryError('busy', `The memory is locked by ${who}.`, {
      hint: `Try again. If that process runs on no machine that shares this disk, remove ${lock}.`,
      data: { lock, ...(holder ? { pid: holder.pid } : {}) },
    });
  }
}

function ownerName(id: string): string {
  return `owner-${id}`;
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
    token: Token,
    patience: Patience,
  ): Promise<GitLock> {
    const path = `${target}.lock`;
    const proof = join(folder, `${role}-${token.id}`);
    const lock = new GitLock(disk, path, proof);
    try {
      disk.files.close(disk.files.open(proof, 'wx', 0o666));
      await waitFor(
        () => (lock.#tryTake(role) ? true : undefined),
        patience,
        () => busy(path),
      );
    } catch (error) {
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
   * Fills the lock with what its target is to hold; what that looks like on disk.
   *
   * It writes through our own link: under the lock's name may lie another's by now.
   */
  async fill(pieces: readonly Uint8Array[]): Promise<Stat> {
    const { files } = this.#disk;
    const fd = files.open(this.proof, 'r+');
    try {
      // Of a dead process's lock. An empty file is not emptied: ext4 then writes it out at once.
      if (files.fstat(fd).size > 0) files.truncate(this.proof, 0);
      files.write(fd, pieces);
      await this.#disk.sync(fd, 'data');
      return files.fstat(fd);
    } finally {
      files.close(fd);
    }
  }

  /** @throws MemoryError `busy` when the lock is not ours any more. */
  check(): void {
    if (this.isOurs()) return;
    throw new MemoryError('busy', `The lock ${this.path} was removed while it was in use.`, {
      hint: 'Nothing was changed. Try again.',
    });
  }

  /** Puts the filled lock in its target's place; this is the moment of the change. */
  commit(target: string): void {
    this.check();
    this.#disk.files.rename(this.path, target);
    this.#disk.tryDiscard(this.proof);
    this.#over = true;
  }

  /** Lets go. It throws nothing: whoever takes the process lock next removes what stays. */
  release(): void {
    if (this.#over) return;
    try {
      if (this.isOurs()) this.#disk.discard(this.path);
      this.#disk.discard(this.proof);
      this.#over = true;
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

/** The error about a lock of git's that another holds. */
export function busy(lock: string): MemoryError {
  return new MemoryError('busy', `Another git process holds ${lock}.`, {
    hint: 'Wait for it to finish, or close the editor of a "git commit". If no git process is running, remove that file.',
    data: { lock },
  });
}

/** File systems that two kernels can have mounted at a time, by their magic number. */
const sharedFileSystems = new Set([
  0x6969, // NFS
  0xff534d42, // CIFS
  0xfe534d42, // SMB2
  0x517b, // SMB
  0x01021997, // 9p
  0x65735546, // FUSE, virtiofs
  0x00c36400, // Ceph
  0x5346414f, // AFS
  0x0bd00bd0, // Lustre
  0x01161970, // GFS2
  0x7461636f, // OCFS2
  0x47504653, // GPFS
]);

/** Whether only this kernel can have the disk of a folder mounted. */
export function isLocal(folder: string): boolean {
  try {
    return process.platform === 'linux' && !sharedFileSystems.has(statfsSync(folder).type >>> 0);
  } catch {
    return false;
  }
}
