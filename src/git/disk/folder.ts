import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { DirectoryEntry, Files, LoadedFile, Stat } from './file-layer.ts';
import { storageError } from './storage-error.ts';

/** Read access to a folder, on disk or in a commit. */
export type ReadFolder = Pick<Folder, 'stat' | 'peek' | 'has' | 'read' | 'load' | 'list'>;

/**
 * Reads below one folder and never outside it: no part of a path may be a symbolic link.
 *
 * Paths are relative, `/` between segments; the caller has checked that they hold no `..`.
 */
export class Folder {
  readonly root: string;
  readonly #files: Files;
  readonly #platform: NodeJS.Platform;
  /** Paths known to be folders; cleared when the caller next awaits. */
  readonly #seen = new Set<string>();

  /** @param platform whose file systems ignore differences of names. */
  constructor(files: Files, root: string, platform: NodeJS.Platform = process.platform) {
    this.#files = files;
    this.root = root;
    this.#platform = platform;
  }

  /**
   * @throws MemoryError `damaged` when the path leads through a link, or ends in one, or in a pipe or
   *   device.
   */
  stat(path: string): Stat | undefined {
    if (path === '') return this.#lstat(this.root, path);
    if (!this.#isFolder(folderOf(path), path)) return undefined;
    const stat = this.#lstat(this.#absolute(path), path);
    return stat && this.#isExact(path) ? stat : undefined;
  }

  /** @param path the path that an error names. */
  #isFolder(folder: string, path: string): boolean {
    if (this.#seen.has(folder)) return true;
    if (folder !== '' && !this.#isFolder(folderOf(folder), path)) return false;
    if (this.#lstat(this.#absolute(folder), path)?.kind !== 'directory') return false;
    if (this.#seen.size === 0) queueMicrotask(() => this.#seen.clear());
    this.#seen.add(folder);
    return true;
  }

  /**
   * Whether the path is spelt as on disk. Letter case counts even where the file system ignores it: a
   * path that the rules of a mode protect must not have a second spelling. Some disks of macOS change the
   * names of files to normal form D; such a file has its name in form C.
   */
  #isExact(path: string): boolean {
    if (this.#platform === 'linux') return true;
    const [root, full] = [this.root, join(this.root, path)].map((at) => this.#files.realpath(at));
    if (root === undefined || full === undefined) return false;
    const [wanted, found] = [join(root, path), full];
    return (
      found === wanted || (path === path.normalize('NFC') && isComposedFrom(wanted, found, root))
    );
  }

  /** Like `stat`, for a path that is known to be spelt as on disk. */
  peek(path: string): Stat | undefined {
    if (!this.#isFolder(folderOf(path), path)) return undefined;
    return this.#lstat(this.#absolute(path), path);
  }

  /** Whether `peek` returns this stat, which it takes less time to find out; false if `peek` fails. */
  has(path: string, stat: Stat): boolean {
    try {
      return (
        this.#isFolder(folderOf(path), path) && this.#files.hasStat(this.#absolute(path), stat)
      );
    } catch {
      return false;
    }
  }

  /**
   * Compares the stats of many files with the saved ones.
   *
   * It does not look for links in the paths: the caller takes the stat of each folder later.
   *
   * @param stats the `statNumbers` of each path.
   * @param isWanted whether the result for the path with this index is needed.
   * @returns 1 for each path whose file has its saved stat, 0 for all others.
   */
  unchanged(
    paths: readonly string[],
    stats: Float64Array,
    isWanted: (index: number) => boolean,
  ): Uint8Array {
    const same = new Uint8Array(paths.length);
    let end = 0;
    for (let start = 0; start < paths.length; start = end + 1) {
      end = start;
      while (end < paths.length && isWanted(end)) end += 1;
      for (let from = start; from < end; from++) {
        const changed = this.#files.firstChanged(`${this.root}/`, paths, stats, from, end);
        same.fill(1, from, changed);
        from = changed;
      }
    }
    return same;
  }

  /**
   * The bytes of a file; undefined when there is none.
   *
   * @param stat of the path, from just now.
   * @throws MemoryError `too_large` over `limit` bytes.
   */
  read(path: string, limit: number, stat = this.stat(path)): Buffer | undefined {
    if (stat?.kind !== 'file') return undefined;
    checkSize(path, stat.size, limit);
    return this.#try(path, () => this.#files.read(this.#absolute(path)));
  }

  /** Like `peek` and then `read`, but a file over `limit` is returned without its bytes. */
  load(path: string, limit: number): LoadedFile | undefined {
    if (!this.#isFolder(folderOf(path), path)) return undefined;
    const at = this.#absolute(path);
    const loaded = this.#try(path, () => this.#files.load(at, limit));
    checkKind(loaded?.stat, at, path);
    return loaded;
  }

  /** The entries of a folder; undefined when there is none. */
  list(path: string): DirectoryEntry[] | undefined {
    if (this.stat(path)?.kind !== 'directory') return undefined;
    return this.#try(path, () => this.#files.list(this.#absolute(path)));
  }

  /** The absolute path; node's `join` takes longer than an lstat. */
  #absolute(path: string): string {
    return path === '' ? this.root : `${this.root}/${path}`;
  }

  #lstat(at: string, path: string): Stat | undefined {
    let stat: Stat | undefined;
    try {
      stat = this.#files.lstat(at);
    } catch (error) {
      throw storageError(error, `read ${path === '' ? this.root : path}`);
    }
    checkKind(stat, at, path);
    if (at === this.root && stat?.kind === 'file') throw inTheWay(at, stat.kind);
    return stat;
  }

  #try<T>(path: string, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw storageError(error, `read ${path === '' ? this.root : path}`);
    }
  }
}

/** Whether a path below a folder is the normal form C of the one on disk. */
function isComposedFrom(wanted: string, found: string, root: string): boolean {
  if (!found.startsWith(root)) return false;
  return wanted.slice(root.length) === found.slice(root.length).normalize('NFC');
}

/** Refuses a link, and a pipe or device, which could be read without end. */
function checkKind(stat: Stat | undefined, at: string, path: string): void {
  if (stat?.kind === 'link') throw isLink(at, path);
  if (stat?.kind !== 'other') return;
  throw new MemoryError('damaged', `${at} is neither a file nor a folder.`, {
    hint: 'Move or remove it.',
    data: { path },
  });
}

/** The folder that contains a path; empty at the top. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/**
 * Refuses a file with more bytes than are read.
 *
 * @throws MemoryError `too_large`.
 */
export function checkSize(path: string, size: number, limit: number): void {
  if (size <= limit) return;
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  throw new MemoryError('too_large', `${path} has ${megabytes(size)}.`, {
    hint: `The limit is ${megabytes(limit)}. Make the file smaller.`,
    data: { path, limit },
  });
}

/** The error for a file or link where a folder should be. Git on Windows checks a link out as a file. */
export function inTheWay(path: string, kind: Stat['kind']): MemoryError {
  const what = kind === 'link' ? 'a symbolic link' : 'a file';
  return new MemoryError('cannot_create', `${path} is ${what} where a folder should be.`, {
    hint: 'Memory is never read or written through a link or over a file. Move it out of the way.',
    data: { path },
  });
}

/** The error for a path that leads through a link. */
export function isLink(at: string, path: string): MemoryError {
  return new MemoryError('damaged', `${at} is a symbolic link.`, {
    hint: 'Memory is not read through links: put the real file or folder in its place.',
    data: { path },
  });
}
