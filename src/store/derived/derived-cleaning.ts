import { join } from 'node:path';
import type { Disk } from '../../git/disk/disk.ts';
import { isTreeState, parseDerivedName } from './derived-name.ts';

/** Age from which the file of a state that is not in use counts as abandoned, in milliseconds. */
const abandoned = 30 * 24 * 60 * 60 * 1000;
/** The same for a temporary file, whose writer was killed. */
const abandonedTemporary = 60 * 60 * 1000;
/** Limit of the total size of the files of the trees of git, in bytes. */
export const maxTreeBytes = 64 * 1024 * 1024;

/**
 * Removes the derived files of states that are no longer used: those of abandoned states, and beyond
 * the limit those of the trees that were used longest ago.
 *
 * @param inUse the states of this process, which are kept.
 */
export function cleanDerived(disk: Disk, folder: string, inUse: readonly string[]): void {
  const { files } = disk;
  const now = Date.now();
  const trees: { path: string; size: number; used: number; isKept: boolean }[] = [];
  for (const { name } of files.list(folder) ?? []) {
    const { state, isTemporary } = parseDerivedName(name) ?? {};
    if (state === undefined) continue;
    const path = join(folder, name);
    const { mtimeMs: used = now, size = 0 } = files.lstat(path) ?? {};
    const isKept = !isTemporary && inUse.includes(state);
    const limit = isTemporary ? abandonedTemporary : abandoned;
    if (!isKept && used < now - limit) disk.tryDiscard(path);
    else if (isTreeState(state)) trees.push({ path, size, used, isKept });
  }
  let left = maxTreeBytes;
  for (const { path, size, isKept } of trees.sort((a, b) => b.used - a.used)) {
    left -= size;
    if (left < 0 && !isKept) disk.tryDiscard(path);
  }
}
