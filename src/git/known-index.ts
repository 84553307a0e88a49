import { join } from 'node:path';
import type { WorkTree } from './discover.ts';
import type { Disk } from './disk.ts';
import type { Stat } from './files.ts';
import { IndexFile } from './index-file.ts';

/** Where an index lies. */
interface Place {
  readonly disk: Disk;
  readonly tree: WorkTree;
}

/** An index as it was seen. */
export interface KnownIndex {
  readonly file: IndexFile;
  /** Inode, size and time of the file; undefined when there was none. */
  readonly key: string | undefined;
}

/**
 * Reads the index, or answers with the one that is known when it has not changed since.
 *
 * @param key of the index as it was seen just now.
 */
export function readIndex(
  { disk, tree }: Place,
  known: KnownIndex | undefined,
  key: string | undefined,
): KnownIndex {
  if (known && known.key === key) return known;
  const bytes = disk.files.read(join(tree.gitDir, 'index'));
  return { file: IndexFile.read(bytes), key };
}

export function indexKey({ disk, tree }: Place): string | undefined {
  const stat = disk.files.lstat(join(tree.gitDir, 'index'));
  return stat && keyOf(stat);
}

/** Without the time of the last status change, which the rename into place moves. */
export function keyOf(stat: Stat): string {
  return `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}
