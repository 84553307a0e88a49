import { join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { isBlob, type Oid } from '../objects/object.ts';

/** The mtime of a file as the two numbers of an index line. */
export interface LineTime {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/**
 * The mtimes of an index and of the index that replaces it.
 *
 * Git trusts the stat of a line only if the file is older than the index. A file that changes twice
 * within one clock tick may keep the stat of its first change, so git compares the content of a file
 * that is not older ("racy git" in git's documentation).
 */
export interface IndexTimes {
  readonly before: LineTime;
  readonly after: LineTime;
}

/** The path and blob of a line. */
export interface LineContent {
  readonly path: string;
  readonly oid: Oid;
}

/** Limits for comparing files with their lines; git compares the others itself later. */
const maxCompared = { files: 512, bytes: 8 * 1024 * 1024 };

export function lineTime(ns: bigint): LineTime {
  return { seconds: Number(ns / 1_000_000_000n), nanoseconds: Number(ns % 1_000_000_000n) };
}

/**
 * Whether git compares a file under the old index time, but would trust its line under the new one.
 *
 * A git built with USE_NSEC compares nanoseconds, any other seconds; both are checked.
 */
export function becomesTrusted(file: LineTime, { before, after }: IndexTimes): boolean {
  const bySeconds = file.seconds >= before.seconds && file.seconds < after.seconds;
  return bySeconds || (!isOlder(file, before) && isOlder(file, after));
}

export function isOlder(a: LineTime, b: LineTime): boolean {
  return a.seconds < b.seconds || (a.seconds === b.seconds && a.nanoseconds < b.nanoseconds);
}

/**
 * Compares files of the work tree with their lines, up to a limit of files and bytes.
 *
 * It compares the raw bytes and runs no filter. A file that a filter converts therefore counts as
 * changed, and so does every file past the limit.
 *
 * @returns whether the file of a line contains the blob of the line.
 */
export function comparison(disk: Disk, top: string): (line: LineContent) => boolean {
  let { files, bytes } = maxCompared;
  return ({ path, oid }) => {
    if (files === 0) return false;
    files -= 1;
    try {
      const found = disk.files.load(join(top, path), bytes)?.bytes;
      if (!found) return false;
      bytes -= found.length;
      return isBlob(found, oid);
    } catch (error) {
      if (errno(error) === undefined) throw error;
      return false;
    }
  };
}
