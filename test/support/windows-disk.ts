import * as fs from 'node:fs';
import { dirname } from 'node:path';
import type { Stat } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';

/** How long a scanner holds a new file, in milliseconds of the simulated clock. */
const scanned = 200;

interface Ways {
  /** Whether files have inodes; some network disks give all of them the inode 0. */
  readonly inodes?: boolean;
}

/**
 * The real disk with the ways of Windows: a scanner holds each new file for a while, and nobody replaces,
 * removes or opens it meanwhile; a read-only file is not replaced; folders cannot be flushed; permissions
 * know only read-only; times have 100 ns. Its clock moves only when the program pauses.
 */
export class WindowsDisk extends NodeFiles {
  /** The pauses of the program. */
  readonly pauses: number[] = [];
  readonly #inodes: boolean;
  readonly #folders = new Set<number>();

  constructor({ inodes = true }: Ways = {}) {
    const made = new Map<string, number>();
    let clock = 0;
    const check = (path: string) => {
      const since = made.get(path);
      if (since !== undefined && clock < since + scanned) throw refusal('EBUSY', path);
    };
    const overwrite = (path: string) => {
      check(path);
      const stat = fs.lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() && (stat.mode & 0o200) === 0) throw refusal('EPERM', path);
    };
    const openSync: typeof fs.openSync = (path, flags, mode) => {
      const isNew = flags === 'wx' || (flags === 'a' && !fs.existsSync(path));
      if (!isNew) check(String(path));
      const fd = fs.openSync(path, flags, mode);
      if (isNew) made.set(String(path), clock);
      return fd;
    };
    const renameSync: typeof fs.renameSync = (from, to) => {
      check(String(from));
      overwrite(String(to));
      fs.renameSync(from, to);
      made.delete(String(from));
    };
    const unlinkSync: typeof fs.unlinkSync = (path) => {
      overwrite(String(path));
      fs.unlinkSync(path);
    };
    const calls = { ...fs, openSync, renameSync, unlinkSync };
    const pause = (ms: number) => {
      clock += ms;
      this.pauses.push(ms);
    };
    super({ platform: 'win32', calls, pause });
    this.#inodes = inodes;
  }

  override open(path: string, flags: 'r' | 'wx' | 'a' | 'r+', mode?: number): number {
    const fd = super.open(path, flags, mode);
    if (fs.fstatSync(fd).isDirectory()) this.#folders.add(fd);
    return fd;
  }

  override close(fd: number): void {
    this.#folders.delete(fd);
    super.close(fd);
  }

  override fsync(fd: number, kind: 'data' | 'all'): Promise<void> {
    if (this.#folders.has(fd)) return Promise.reject(refusal('EPERM', 'a folder'));
    return super.fsync(fd, kind);
  }

  override chmod(fd: number, mode: number): void {
    super.chmod(fd, (mode & 0o200) === 0 ? 0o444 : 0o666);
  }

  override lstat(path: string): Stat | undefined {
    const stat = super.lstat(path);
    return stat && this.#seen(stat);
  }

  override hasStat(path: string, stat: Stat): boolean {
    const found = this.lstat(path);
    return found?.size === stat.size && found.mtimeMs === stat.mtimeMs && found.ino === stat.ino;
  }

  override fstat(fd: number): Stat {
    return this.#seen(super.fstat(fd));
  }

  override lstatExact(path: string): fs.BigIntStats | undefined {
    const stat = super.lstatExact(path);
    if (!stat) return undefined;
    const cut = {
      ino: this.#inodes ? stat.ino : 0n,
      mtimeNs: stat.mtimeNs - (stat.mtimeNs % 100n),
    };
    return Object.assign(stat, cut);
  }

  #seen(stat: Stat): Stat {
    const mode = (stat.mode & ~0o777) | ((stat.mode & 0o200) === 0 ? 0o444 : 0o666);
    return { ...stat, mode, ...(!this.#inodes && { ino: 0 }) };
  }
}

/** A path in a folder that exists, for errors of node. */
function refusal(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: refused in ${dirname(path)}`), { code, path });
}
