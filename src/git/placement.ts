import type { BigIntStats } from 'node:fs';
import { dirname, join } from 'node:path';
import { MemoryError } from '../core/error.ts';
import { type Disk, together } from './disk.ts';
import { temporaryName } from './journal.ts';
import type { PlannedFile } from './plan.ts';
import { removeIfEmpty } from './recovery.ts';
import type { Token } from './token.ts';

/** A file of the work tree that is to hold something else, or to go. */
export type Placement = Pick<PlannedFile, 'path' | 'bytes' | 'seen' | 'mode'>;

/** A person has changed a file at the last moment: what was worked out has to be worked out again. */
export class Moved extends Error {}

/** Whether a file holds what was seen of it. */
export function isAsSeen(disk: Disk, top: string, { path, seen }: Placement): boolean {
  const found = disk.files.read(join(top, path));
  return found === undefined || seen === undefined ? found === seen : found.equals(seen);
}

/**
 * The folders that have to be made for files, outermost first.
 *
 * @throws MemoryError `cannot_create` where something else is in the way.
 */
export function missingFolders(
  disk: Disk,
  top: string,
  placements: readonly Placement[],
): string[] {
  const missing = new Set<string>();
  for (const { path, bytes } of placements) {
    const parts = path.split('/');
    for (let depth = 1; bytes && depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      const at = join(top, folder);
      const kind = disk.files.lstat(at)?.kind;
      if (kind === undefined) missing.add(folder);
      else if (kind !== 'directory') throw inTheWay(at, kind);
    }
  }
  return [...missing];
}

/**
 * Puts each file in place under its name, whole, and removes those that are to go.
 *
 * @param ready fulfilled when all is on the medium that undoing it takes; nothing changes before.
 * @param changed gets the folders whose entries change.
 * @returns the state of each file as the index is to have it.
 * @throws Moved when a file is not as it was seen any more.
 */
export async function placeFiles(
  disk: Disk,
  top: string,
  token: Token,
  placements: readonly Placement[],
  ready: Promise<void>,
  changed: Set<string>,
): Promise<Map<string, BigIntStats>> {
  const moves: { from: string; to: string; placement: Placement }[] = [];
  const creations = placements.map(async (placement, i) => {
    const { path, bytes, mode } = placement;
    if (bytes === undefined) return;
    const to = join(top, path);
    for (const folder of disk.makeDirectories(dirname(to))) changed.add(folder);
    const from = join(dirname(to), temporaryName(token.id, i));
    moves.push({ from, to, placement });
    const permissions = disk.files.lstat(to)?.mode;
    await disk.create(from, [bytes], 0o666 | (mode & 0o111), permissions);
  });
  await together([ready, ...creations]);
  const stats = new Map<string, BigIntStats>();
  for (const { from, to, placement } of moves) {
    // Writing them took a while, and a person may save his file at any moment.
    if (!isAsSeen(disk, top, placement)) throw new Moved();
    const was = disk.files.lstatExact(from);
    disk.files.rename(from, to);
    const stat = disk.files.lstatExact(to);
    if (stat?.ino === was?.ino && stat?.mtimeNs === was?.mtimeNs && stat) {
      stats.set(placement.path, stat);
    }
    changed.add(dirname(to));
  }
  for (const one of placements) if (one.bytes === undefined) remove(disk, top, one, changed);
  return stats;
}

/** Removes a file and, as git does, the folders that it leaves empty. */
function remove(disk: Disk, top: string, placement: Placement, changed: Set<string>): void {
  const { path } = placement;
  if (!isAsSeen(disk, top, placement)) throw new Moved();
  disk.discard(join(top, path));
  let folder = dirname(path);
  changed.add(join(top, folder));
  while (folder !== '.' && removeIfEmpty(disk, join(top, folder))) {
    changed.delete(join(top, folder));
    folder = dirname(folder);
    changed.add(join(top, folder));
  }
}

function inTheWay(path: string, kind: string): MemoryError {
  const what = kind === 'link' ? 'a symbolic link' : 'a file';
  return new MemoryError('cannot_create', `${path} is ${what} where a folder should be.`, {
    hint: 'Memory is never written through a link or over a file: move it out of the way.',
    data: { path },
  });
}
