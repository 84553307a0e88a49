import { join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import type { Stat } from '../disk/file-layer.ts';
import type { GitLock } from '../locks/lock.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { TreeChange } from './cache-tree.ts';
import { type IndexChange, IndexFile } from './index-file.ts';
import { comparison, lineTime } from './index-time.ts';

/** Where an index lies. */
interface IndexLocation {
  readonly disk: Disk;
  readonly tree: Pick<WorkTree, 'top' | 'gitDir'>;
}

/** An index as it was seen. */
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
 * Reads the index, or answers with the one that is known when it has not changed since.
 *
 * @param key of the index as it was seen just now.
 */
export function readIndex(
  { disk, tree }: IndexLocation,
  known: KnownIndex | undefined,
  key: string | undefined,
): KnownIndex {
  if (known && known.key === key) return known;
  const bytes = disk.files.read(join(tree.gitDir, 'index'));
  return { file: IndexFile.read(bytes), key };
}

/**
 * Fills git's lock of the index with the changed index. The files that it sets are in place.
 *
 * The time of the new index is that of its lock and not that of the write. Everything that is
 * written to a file after its line was checked has the same time or a later one, and git compares
 * it. What the old time made git compare, and the new time would not, is compared here.
 *
 * @param file the index as it is now, under the lock.
 */
export async function writeIndex(
  { disk, tree }: IndexLocation,
  file: IndexFile,
  { set, remove, trees }: IndexEdit,
  lock: GitLock,
): Promise<KnownIndex> {
  // A part of a second that a floating-point number holds exactly: it is not rounded up.
  const ticks = (lock.timeNs * 1024n) / 1_000_000_000n;
  const after = (ticks * 1_000_000_000n) / 1024n;
  const before = disk.files.lstatExact(join(tree.gitDir, 'index'))?.mtimeNs ?? 0n;
  const own = new Set(set.map(({ path }) => path));
  const holds = comparison(disk, tree.top);
  const written = file
    .splice(set, remove, trees)
    .smudge(
      { before: lineTime(before), after: lineTime(after) },
      (line) => own.has(line.path) || holds(line),
    );
  const stat = await lock.fill(written.pieces(), Number(ticks) / 1024);
  return { file: written, key: keyOf(stat) };
}

export function indexKey({ disk, tree }: IndexLocation): string | undefined {
  const stat = disk.files.lstat(join(tree.gitDir, 'index'));
  return stat && keyOf(stat);
}

/** Without the time of the last status change, which the rename into place moves. */
export function keyOf(stat: Stat): string {
  return `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}
