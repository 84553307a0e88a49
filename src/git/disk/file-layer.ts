import type { BigIntStats } from 'node:fs';

/** A file's identity, size and times: what shows a change without reading the file. */
export interface Stat {
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
  /** Milliseconds with their fraction. */
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly mode: number;
  readonly links: number;
}

/** The number of numbers that `statNumbers` returns. */
export const statSize = 4;

/** The numbers of a stat that change when its file is replaced or changed. */
export function statNumbers({ size, mtimeMs, ctimeMs, ino }: Stat): number[] {
  return [size, mtimeMs, ctimeMs, ino];
}

/** A file's stat and content, from one open. */
export interface LoadedFile {
  readonly stat: Stat;
  /** Undefined for anything but a regular file, and for one over the limit. */
  readonly bytes?: Buffer;
  /** The text of the bytes, if a reader has decoded them. */
  readonly text?: string;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: Stat['kind'];
}

/**
 * All disk operations, one method each, so that the fault tests can replace them.
 *
 * Methods that look up a path return `undefined` instead of throwing ENOENT or ENOTDIR; every other
 * failure throws node's error. Only `fsync` is asynchronous: the others take less time than a turn of
 * the event loop.
 */
export interface Files {
  lstat(path: string): Stat | undefined;
  /** Whether a file or folder has a stat, as `sameStat` compares them. */
  hasStat(path: string, stat: Stat): boolean;
  /**
   * Finds the first of some files that does not have its saved stat. An error counts as another stat.
   *
   * @param prefix of each path.
   * @param stats as `statNumbers` returned them, four numbers for each path.
   * @param start index of the first path to look at.
   * @param end index after the last one.
   * @returns the index of the path; `end` if all files have their stats.
   */
  firstChanged(
    prefix: string,
    paths: readonly string[],
    stats: Float64Array,
    start: number,
    end: number,
  ): number;
  /** Like `lstat`, with nanoseconds, for the index. */
  lstatExact(path: string): BigIntStats | undefined;
  /**
   * The bytes of a regular file, links followed. Anything else fails with EISDIR or EFTYPE, and a file
   * over the limit with EFBIG, before a byte is read: a pipe or device may never end.
   */
  read(path: string, limit?: number): Buffer | undefined;
  /** Like `lstat` and then `read` with a limit, but with one open, which is faster for many files. */
  load(path: string, limit: number): LoadedFile | undefined;
  list(path: string): DirectoryEntry[] | undefined;
  realpath(path: string): string | undefined;
  /** The text of a symbolic link; undefined for anything else. */
  readlink(path: string): string | undefined;
  open(path: string, flags: 'r' | 'wx' | 'a' | 'r+', mode?: number): number;
  fstat(fd: number): Stat;
  pread(fd: number, length: number, position: number): Buffer;
  write(fd: number, pieces: readonly Uint8Array[]): void;
  fsync(fd: number, kind: 'data' | 'all'): Promise<void>;
  truncate(path: string, length: number): void;
  chmod(fd: number, mode: number): void;
  /** Sets the time of the last change, in seconds. */
  setTime(fd: number, seconds: number): void;
  close(fd: number): void;
  rename(from: string, to: string): void;
  /** Like `rename`, but another thread frees the replaced file: that takes longer than the rename. */
  replace(from: string, to: string): void;
  link(existing: string, path: string): void;
  unlink(path: string): void;
  mkdir(path: string): void;
  rmdir(path: string): void;
}

/** Size limit of a file that is read whole, in bytes. */
export const maxFileSize = 1024 * 1024 * 1024;

/** The system's code of an error (`ENOENT`); undefined if it is not a system error. */
export function errno(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}

/** Reads a file of the user. Like in git, one that may not be read counts as absent. */
export function unlessDenied<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errno(error) === 'EACCES') return undefined;
    throw error;
  }
}

/** Like `lstat`, but of the target of a link; undefined for a dangling link. */
export function lookThrough(files: Files, path: string): Stat | undefined {
  const stat = files.lstat(path);
  if (stat?.kind !== 'link') return stat;
  const target = files.realpath(path);
  return target === undefined ? undefined : files.lstat(target);
}

/**
 * The path of a file, or of the one that a link there leads to. Git locks and replaces that one for its
 * index, its configuration and its packed refs, and leaves the link.
 */
export function throughLink(files: Files, path: string): string {
  return files.lstat(path)?.kind === 'link' ? (files.realpath(path) ?? path) : path;
}

/** Whether two stats of a path show the same unchanged file. */
export function sameStat(a: Stat | undefined, b: Stat | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.kind === b.kind
  );
}
