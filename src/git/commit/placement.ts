import type { BigIntStats } from 'node:fs';
import { dirname, join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { type Disk, inWaves, removeIfEmpty } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { inTheWay } from '../disk/folder.ts';
import { type LineStat, lineStat } from '../index/index-file.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { OnStaged, PlannedFile } from './commit-plan.ts';
import { temporaryName } from './journal.ts';

/** A file of the work tree that is written or removed. */
export type Placement = Pick<PlannedFile, 'path' | 'bytes' | 'seen' | 'mode'>;

/** The user changed a file at the last moment: the change must be planned again. */
export class FileChangedError extends Error {}

/** Whether a file still has the content that was read. */
function isAsSeen(disk: Disk, top: string, { path, seen }: Placement): boolean {
  const at = join(top, path);
  if (seen === undefined) return disk.files.lstat(at) === undefined;
  return disk.files.read(at)?.equals(seen) ?? false;
}

/** Whether all files of a change still have the content that was read. */
export function areAsSeen(disk: Disk, top: string, placements: readonly Placement[]): boolean {
  const changed = placements.filter((one) => !isAsSeen(disk, top, one));
  if (changed.length === 0) return true;
  const twins = twinsOfNew(disk, top, placements);
  return changed.every((one) => twins.has(one));
}

/**
 * Finds the new files whose names the disk, which ignores letter case or the like, does not tell apart from
 * those of removed files.
 *
 * @returns the removed file by the new one.
 */
function twinsOfNew(
  disk: Disk,
  top: string,
  placements: readonly Placement[],
): Map<Placement, Placement> {
  const twins = new Map<Placement, Placement>();
  const removals = placements.filter(({ bytes }) => bytes === undefined);
  if (removals.length === 0) return twins;
  const statOf = ({ path }: Placement) => disk.files.lstatExact(join(top, path));
  for (const one of placements) {
    const stat = one.bytes && !one.seen ? statOf(one) : undefined;
    const twin = stat && removals.find((removal) => isSameFile(stat, statOf(removal)));
    if (twin) twins.set(one, twin);
  }
  return twins;
}

function isSameFile(a: BigIntStats, b: BigIntStats | undefined): boolean {
  return a.ino === b?.ino && a.mtimeNs === b.mtimeNs;
}

/**
 * Lists the missing folders of files, outermost first.
 *
 * @throws MemoryError `cannot_create` where a file, a link or another repository is in the way.
 */
export function missingFolders(
  disk: Disk,
  top: string,
  placements: readonly Placement[],
): string[] {
  const missing = new Set<string>();
  const present = new Set<string>();
  for (const { path, bytes } of placements) {
    const parts = path.split('/');
    for (let depth = 1; bytes && depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      if (present.has(folder)) continue;
      const at = join(top, folder);
      const kind = disk.files.lstat(at)?.kind;
      if (kind === undefined) missing.add(folder);
      else if (kind !== 'directory') throw inTheWay(at, kind);
      else if (disk.files.lstat(join(at, '.git'))) throw otherRepository(at);
      else present.add(folder);
    }
  }
  return [...missing];
}

/**
 * Creates missing folders.
 *
 * @param changed collects the folders whose entries change.
 */
export function makeFolders(
  disk: Disk,
  top: string,
  folders: readonly string[],
  changed: Set<string>,
): void {
  for (const folder of folders) {
    // The user may have put it there since the folders were looked at.
    if (disk.files.lstat(join(top, folder))?.kind === 'link') throw inTheWay(folder, 'link');
    for (const one of disk.makeDirectories(join(top, folder))) changed.add(one);
  }
}

/** A file that is completely written, but not yet renamed into place. */
export interface Staged {
  readonly from: string;
  readonly placement: Placement;
  readonly stat: LineStat | undefined;
}

/** The staging path of a file: in our folder, where `git add` does not find it. */
export function stagingPath(folder: string, token: string, i: number): string {
  return join(folder, `file${i}-${token}`);
}

/**
 * Writes the new files to staging paths.
 *
 * @param at staging path by the number of a placement; undefined skips it.
 */
export async function stageFiles(
  disk: Disk,
  top: string,
  placements: readonly Placement[],
  at: (i: number) => string | undefined,
  onStaged?: OnStaged,
): Promise<Staged[]> {
  const stage = async (placement: Placement, i: number): Promise<Staged[]> => {
    const { path, bytes, mode } = placement;
    const from = at(i);
    if (bytes === undefined || from === undefined) return [];
    const permissions = placement.seen && disk.files.lstat(join(top, path))?.mode;
    await disk.create(from, [bytes], 0o666 | (mode & 0o111), permissions);
    const stat = disk.files.lstatExact(from);
    return [{ from, placement, stat: stat && lineStat(stat) }];
  };
  const staged = await inWaves(placements, stage, (done) => onStaged?.(done, placements.length));
  return staged.flat();
}

/**
 * Renames each new file into place, and removes the files without new content.
 *
 * Their folders must exist.
 *
 * @param changed collects the folders whose entries change.
 * @returns the stat of each file for the index.
 * @throws FileChangedError when the content of a file is no longer the one that was read.
 */
export async function placeFiles(
  disk: Disk,
  top: string,
  token: ProcessToken,
  placements: readonly Placement[],
  staged: readonly Staged[],
  changed: Set<string>,
): Promise<Map<string, LineStat | undefined>> {
  const placed = new Map<string, LineStat | undefined>();
  const removals = placements.filter(({ bytes }) => bytes === undefined);
  const twins = new Set(twinsOfNew(disk, top, placements).values());
  for (const one of twins) discardAsSeen(disk, top, one);
  for (const { placement } of staged) changed.add(dirname(join(top, placement.path)));
  const move = ({ from, placement, stat: was }: Staged) => {
    // Writing them took a while, and the user may save the file at any moment.
    if (!isAsSeen(disk, top, placement)) throw new FileChangedError();
    const to = join(top, placement.path);
    disk.files.rename(from, to);
    const found = disk.files.lstatExact(to);
    // Not the whole state: it takes several times the memory, and a change may be of very many files.
    const stat = found && lineStat(found);
    const isSame =
      stat?.ino === was?.ino && stat?.mtime === was?.mtime && stat?.mtimeNs === was?.mtimeNs;
    placed.set(placement.path, isSame ? stat : undefined);
  };
  try {
    for (const one of staged) move(one);
  } catch (error) {
    if (errno(error) !== 'EXDEV') throw error;
    // The work tree and its git directory are on different file systems.
    const inSameFolder = (i: number) => {
      const { path = '' } = placements[i] ?? {};
      return placed.has(path) ? undefined : join(top, dirname(path), temporaryName(token.id, i));
    };
    for (const one of await stageFiles(disk, top, placements, inSameFolder)) move(one);
  }
  for (const one of removals) {
    if (!twins.has(one)) discardAsSeen(disk, top, one);
    removeEmptyFolders(disk, top, dirname(one.path), changed);
  }
  return placed;
}

function discardAsSeen(disk: Disk, top: string, placement: Placement): void {
  if (!isAsSeen(disk, top, placement)) throw new FileChangedError();
  disk.discard(join(top, placement.path));
}

/** Removes the folders that became empty, like git. */
function removeEmptyFolders(disk: Disk, top: string, from: string, changed: Set<string>): void {
  let folder = from;
  changed.add(join(top, folder));
  while (folder !== '.' && removeIfEmpty(disk, join(top, folder))) {
    changed.delete(join(top, folder));
    folder = dirname(folder);
    changed.add(join(top, folder));
  }
}

/** Like git, which adds no file of a repository to the one around it. */
function otherRepository(path: string): MemoryError {
  return new MemoryError(
    'cannot_create',
    `${path} is a repository of its own: it contains ${join(path, '.git')}.`,
    {
      hint: 'Remove that .git if it is a leftover, or keep the memory in a repository of its own ("memory-bank place --help"). Nothing was written.',
      data: { path },
    },
  );
}
