import * as fs from 'node:fs';
import {
  type DirectoryEntry,
  errno,
  type Files,
  type LoadedFile,
  maxFileSize,
  type Stat,
  statSize,
} from './file-layer.ts';
import { HeldFiles, type HeldSystem } from './held-files.ts';
import { openPlain, withoutWaiting } from './open-plain.ts';

/** A missing file is not an error. */
const quiet = { throwIfNoEntry: false } as const;

/** The real disk. */
export class NodeFiles implements Files {
  /** The paths of open files, which node does not name in its errors. */
  readonly #paths = new Map<number, string>();
  readonly #held: HeldFiles;

  constructor(system?: HeldSystem) {
    this.#held = new HeldFiles(system);
  }

  lstat(path: string): Stat | undefined {
    // Without a function for each call: a refresh takes the stat of every file of the memory.
    try {
      const stat = fs.lstatSync(path, quiet);
      return stat && toStat(stat);
    } catch (error) {
      return unlessAbsent(() => {
        throw error;
      });
    }
  }

  hasStat(path: string, { ino, size, mtimeMs, ctimeMs }: Stat): boolean {
    // Without an object of our own for each file.
    const found = fs.lstatSync(path, quiet);
    if (found?.ino !== ino || found.size !== size) return false;
    // A file of another kind has another time of its last change.
    return found.mtimeMs === mtimeMs && found.ctimeMs === ctimeMs;
  }

  firstChanged(...[prefix, paths, stats, start, end]: Parameters<Files['firstChanged']>): number {
    let index = start;
    try {
      // Without an object of our own for each file: this is called for every file of a memory.
      for (; index < end; index++) {
        const found = fs.lstatSync(prefix + paths[index], quiet);
        const at = statSize * index;
        if (!found || found.size !== stats[at] || found.mtimeMs !== stats[at + 1]) return index;
        if (found.ctimeMs !== stats[at + 2] || found.ino !== stats[at + 3]) return index;
      }
    } catch {
      // The caller takes the stat of this file, and gets the error.
    }
    return index;
  }

  lstatExact(path: string): fs.BigIntStats | undefined {
    return unlessAbsent(() => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  }

  read(path: string, limit = maxFileSize): Buffer | undefined {
    return unlessAbsent(() => {
      const fd = this.#held.open(path, withoutWaiting);
      try {
        const stat = fs.fstatSync(fd);
        if (stat.isDirectory()) throw refusal('EISDIR', 'is a directory', path);
        if (!stat.isFile()) throw refusal('EFTYPE', 'is not a regular file', path);
        if (stat.size > limit) throw refusal('EFBIG', `has more than ${limit} bytes`, path);
        return this.pread(fd, stat.size, 0);
      } finally {
        fs.closeSync(fd);
      }
    });
  }

  load(path: string, limit: number): LoadedFile | undefined {
    return unlessAbsent(() => {
      const fd = this.#held.read(path, () => openPlain(path));
      if (fd === undefined) {
        const stat = this.lstat(path);
        return stat && { stat };
      }
      try {
        const stat = this.fstat(fd);
        if (stat.kind !== 'file' || stat.size > limit) return { stat };
        return { stat, bytes: this.pread(fd, stat.size, 0) };
      } finally {
        fs.closeSync(fd);
      }
    });
  }

  list(path: string): DirectoryEntry[] | undefined {
    const entries = unlessAbsent(() => fs.readdirSync(path, { withFileTypes: true }));
    return entries?.map((entry) => {
      const kind = entryKind(entry, () => this.lstat(`${path}/${entry.name}`));
      return { name: entry.name, kind };
    });
  }

  realpath(path: string): string | undefined {
    try {
      return unlessAbsent(() => fs.realpathSync.native(path));
    } catch (error) {
      // A link that leads to itself has no target.
      if (errno(error) === 'ELOOP') return undefined;
      throw error;
    }
  }

  readlink(path: string): string | undefined {
    if (this.lstat(path)?.kind !== 'link') return undefined;
    return unlessAbsent(() => fs.readlinkSync(path));
  }

  open(path: string, flags: 'r' | 'wx' | 'a' | 'r+', mode?: number): number {
    const fd = this.#held.open(path, flags === 'r' ? withoutWaiting : flags, mode);
    this.#paths.set(fd, path);
    return fd;
  }

  fstat(fd: number): Stat {
    return this.#on(fd, () => toStat(fs.fstatSync(fd)));
  }

  pread(fd: number, length: number, position: number): Buffer {
    return this.#on(fd, () => readAt(fd, length, position));
  }

  write(fd: number, pieces: readonly Uint8Array[]): void {
    // One call: with many small writes a journaling file system takes twice as long.
    let rest = pieces;
    this.#on(fd, () => {
      while (rest.length > 0) rest = beyond(rest, fs.writevSync(fd, rest));
    });
  }

  fsync(fd: number, kind: 'data' | 'all'): Promise<void> {
    const path = this.#paths.get(fd);
    return new Promise((resolve, reject) => {
      const done = (error: NodeJS.ErrnoException | null) =>
        error ? reject(withPath(error, path)) : resolve();
      if (kind === 'data') fs.fdatasync(fd, done);
      else fs.fsync(fd, done);
    });
  }

  truncate(path: string, length: number): void {
    fs.truncateSync(path, length);
  }

  chmod(fd: number, mode: number): void {
    this.#on(fd, () => fs.fchmodSync(fd, mode));
  }

  setTime(fd: number, seconds: number): void {
    this.#on(fd, () => fs.futimesSync(fd, seconds, seconds));
  }

  close(fd: number): void {
    const path = this.#paths.get(fd);
    this.#paths.delete(fd);
    try {
      fs.closeSync(fd);
    } catch (error) {
      throw withPath(error, path);
    }
  }

  /** Does something with an open file; an error of it names the file. */
  #on<T>(fd: number, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw withPath(error, this.#paths.get(fd));
    }
  }

  rename(from: string, to: string): void {
    this.#held.rename(from, to);
  }

  replace(from: string, to: string): void {
    const replaced = hold(to);
    try {
      this.#held.rename(from, to);
    } finally {
      if (replaced !== undefined) fs.close(replaced, () => {});
    }
  }

  link(existing: string, path: string): void {
    fs.linkSync(existing, path);
  }

  unlink(path: string): void {
    this.#held.unlink(path);
  }

  mkdir(path: string): void {
    fs.mkdirSync(path);
  }

  rmdir(path: string): void {
    this.#held.rmdir(path);
  }
}

function refusal(code: string, reason: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path} ${reason}`), { code, path });
}

/** An error of an open file with the path of the file. */
function withPath(error: unknown, path: string | undefined): unknown {
  if (path === undefined || !(error instanceof Error) || 'path' in error) return error;
  return Object.assign(error, { path });
}

function readAt(fd: number, length: number, position: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = fs.readSync(fd, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** The rest of the pieces after this many bytes. */
function beyond(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let rest = bytes;
  for (const [i, piece] of pieces.entries()) {
    if (rest < piece.length) return [piece.subarray(rest), ...pieces.slice(i + 1)];
    rest -= piece.length;
  }
  return [];
}

/**
 * Opens a file that is about to be replaced, so that another thread frees it later. That takes about a tenth of
 * a millisecond, and several for a large file, such as an index: too long under a lock of git.
 */
function hold(path: string): number | undefined {
  // Windows cannot replace an open file.
  if (process.platform === 'win32') return undefined;
  try {
    return openPlain(path);
  } catch {
    return undefined;
  }
}

function toStat(stat: fs.Stats): Stat {
  return {
    kind: kindOf(stat),
    size: stat.size,
    mtimeMs: stat.mtimeMs,
    ctimeMs: stat.ctimeMs,
    ino: stat.ino,
    mode: stat.mode,
    links: stat.nlink,
  };
}

/**
 * The kind of an entry of a folder.
 *
 * @param look takes its stat.
 */
export function entryKind(
  entry: fs.Dirent,
  look: () => Stat | undefined,
  platform = process.platform,
): Stat['kind'] {
  const kind = kindOf(entry);
  // In a listing of Windows, a file that OneDrive or a deduplicated disk provides is also a link.
  return kind === 'link' && platform === 'win32' ? (look()?.kind ?? kind) : kind;
}

function kindOf(entry: fs.Stats | fs.Dirent): Stat['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

function unlessAbsent<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    const code = errno(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
