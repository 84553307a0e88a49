import { join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { type Oid, objectId } from '../objects/object.ts';

/** The time of a file's last change in the two numbers of an index line. */
export interface LineTime {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/**
 * The times of an index and of the one that replaces it.
 *
 * Git trusts the stat of a line only where the file is older than the index. A file that is changed
 * twice within one tick of the clock may have the stat of its first change, so git compares the
 * content of one that is not older ("racy git" in git's documentation).
 */
export interface IndexTimes {
  readonly before: LineTime;
  readonly after: LineTime;
}

/** What a line says of the content of its file. */
export interface LineContent {
  readonly path: string;
  readonly oid: Oid;
}

/** How much is read to compare files with their lines; of the others git itself does it later. */
const maxCompared = { files: 512, bytes: 8 * 1024 * 1024 };

export function lineTime(ns: bigint): LineTime {
  return { seconds: Number(ns / 1_000_000_000n), nanoseconds: Number(ns % 1_000_000_000n) };
}

/**
 * Whether git compares a file by the time of the old index, and would no longer by that of the new.
 *
 * A git that is built with USE_NSEC looks at nanoseconds, any other at seconds: either one counts.
 */
export function becomesTrusted(file: LineTime, { before, after }: IndexTimes): boolean {
  const bySeconds = file.seconds >= before.seconds && file.seconds < after.seconds;
  return bySeconds || (!isOlder(file, before) && isOlder(file, after));
}

function isOlder(a: LineTime, b: LineTime): boolean {
  return a.seconds < b.seconds || (a.seconds === b.seconds && a.nanoseconds < b.nanoseconds);
}

/**
 * Compares files of the work tree with their lines, up to a limit of files and bytes.
 *
 * It looks at the bytes as they are and runs no filter. A file that a filter converts therefore
 * counts as changed, and so does all beyond the limit.
 *
 * @returns whether the file of a line holds the blob of the line.
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
      return objectId('blob', found) === oid;
    } catch (error) {
      if (errno(error) === undefined) throw error;
      return false;
    }
  };
}
