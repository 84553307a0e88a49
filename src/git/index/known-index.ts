import { join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { type Files, lookThrough, type Stat, throughLink } from '../disk/file-layer.ts';
import type { GitLock } from '../locks/lock.ts';
import type { Oid } from '../objects/object.ts';
import type { ObjectFormat } from '../objects/object-format.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import type { WorkTree } from '../repository/discover.ts';
import { objectFormatIn } from '../repository/repository-format.ts';
import type { TreeChange } from './cache-tree.ts';
import { type IndexChange, IndexFile } from './index-file.ts';
import { comparison, type IndexTimes, isOlder, lineTime } from './index-time.ts';

/** Seconds to which a file system may round times. */
const coarsest = 2;
/** Later than any file. */
const latest = { seconds: 2 ** 32, nanoseconds: 0 };

/** The work tree of an index. */
interface IndexLocation {
  readonly disk: Disk;
  readonly tree: Pick<WorkTree, 'top' | 'gitDir'>;
  readonly odb: Pick<ObjectDatabase, 'format'>;
}

/** The path of the file of an index, which is locked and replaced. */
export function indexPath(files: Files, { gitDir }: Pick<WorkTree, 'gitDir'>): string {
  return throughLink(files, join(gitDir, 'index'));
}

/**
 * Reads the index of a work tree.
 *
 * @throws MemoryError `unsupported`, `damaged`; see `IndexFile.read`.
 */
export function loadIndex(files: Files, tree: Pick<WorkTree, 'gitDir' | 'commonDir'>): IndexFile {
  return indexOf(files, tree, objectFormatIn(files, tree.commonDir));
}

/** Like `loadIndex`, with a known format of the object ids. */
export function indexOf(
  files: Files,
  tree: Pick<WorkTree, 'gitDir'>,
  format: ObjectFormat,
): IndexFile {
  const readShared = (oid: Oid) => files.read(join(tree.gitDir, `sharedindex.${oid}`));
  return IndexFile.read(files.read(indexPath(files, tree)), format, readShared);
}

/** An index as it was read. */
export interface KnownIndex {
  readonly file: IndexFile;
  /** Inode, size and time of the file; undefined when there was none. */
  readonly key: string | undefined;
}

/** A change of an index; see `IndexFile.splice`. */
export interface IndexEdit {
  readonly set: readonly IndexChange[];
  readonly remove: readonly string[];
  readonly trees: readonly TreeChange[];
}

/**
 * Reads the index, or returns the known one if it has not changed.
 *
 * @param key of the index, from just now.
 */
export function readIndex(
  { disk, tree, odb }: IndexLocation,
  known: KnownIndex | undefined,
  key: string | undefined,
): KnownIndex {
  if (known && known.key === key) return known;
  return { file: indexOf(disk.files, tree, odb.format), key };
}

/**
 * Writes the edited index into git's lock of the index. The files of the set lines are in place.
 *
 * The mtime of the new index is that of its lock, not that of the write. A write to a file after its
 * line was checked then has the same or a later time, so git compares the file. Files that git would
 * compare under the old time, but not under the new one, are compared here.
 *
 * @param file the current index, under the lock.
 */
export async function writeIndex(
  { disk, tree }: IndexLocation,
  file: IndexFile,
  { set, remove, trees }: IndexEdit,
  lock: GitLock,
): Promise<KnownIndex> {
  // In units of 1/1024 second, which a floating-point number represents exactly: no rounding up.
  const ticks = (lock.timeNs * 1024n) / 1_000_000_000n;
  const after = (ticks * 1_000_000_000n) / 1024n;
  const before = disk.files.lstatExact(indexPath(disk.files, tree))?.mtimeNs ?? 0n;
  const own = new Set(set.map(({ path }) => path));
  const holds = comparison(disk, tree.top);
  const spliced = file.splice(set, remove, trees);
  const times = { before: lineTime(before), after: lineTime(after) };
  const written = lock.keepsTime
    ? spliced.smudge(times, (line) => own.has(line.path) || holds(line))
    : smudgeRecent(spliced, times);
  const stat = await lock.fill(written.pieces(), lock.keepsTime ? Number(ticks) / 1024 : undefined);
  return { file: written, key: keyOf(stat) };
}

/**
 * Makes git compare every file that is about as old as the index or newer, because the index gets the
 * time of its write, at which a file may have changed again.
 */
function smudgeRecent(file: IndexFile, { before, after }: IndexTimes): IndexFile {
  const start = isOlder(before, after) ? before : after;
  const from = { seconds: start.seconds - coarsest, nanoseconds: 0 };
  return file.smudge({ before: from, after: latest }, () => false);
}

export function indexKey({ disk, tree }: Pick<IndexLocation, 'disk' | 'tree'>): string | undefined {
  const stat = lookThrough(disk.files, join(tree.gitDir, 'index'));
  return stat && keyOf(stat);
}

/** When an index was written, in milliseconds; undefined without an index. */
export function timeOf({ key }: KnownIndex): number | undefined {
  return key === undefined ? undefined : Number(key.slice(key.lastIndexOf(' ') + 1));
}

/** Identifies an index file; without the ctime, which the rename into place changes. */
function keyOf(stat: Stat): string {
  return `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}
