import { join } from 'node:path';
import { Disk, type Durability, removeIfEmpty, storageError } from '../disk/disk.ts';
import { type Files, NodeFiles } from '../disk/file-layer.ts';
import { ProcessLock, tokenIn } from '../locks/process-lock.ts';
import { findWorkTree } from './discover.ts';

/** How long to wait for a server that is at work, in milliseconds. */
const lockWait = { limit: 10_000 };

/** The folder in which servers keep caches, by its absolute path; undefined where there is none. */
export function findOwnFolder(files: Files, root: string): string | undefined {
  const tree = findWorkTree(files, root);
  const folder = tree && join(tree.commonDir, 'memory-bank');
  return folder !== undefined && files.lstat(folder) ? folder : undefined;
}

/**
 * Removes what servers keep in the git directory of a repository: caches, and what they last used. A
 * server that still runs begins them anew.
 *
 * What a dead process has left half done stays, for whoever can finish it.
 *
 * @param root a folder of the work tree; in none, there is nothing to remove.
 * @throws MemoryError `busy`, `storage`.
 */
export async function removeOwnFolder(root: string, durability: Durability): Promise<void> {
  const disk = new Disk(new NodeFiles(), durability);
  const folder = findOwnFolder(disk.files, root);
  if (folder === undefined) return;
  try {
    const lock = new ProcessLock(disk, folder);
    const token = await lock.take(lockWait);
    try {
      const left = [...lock.leftovers().values()].filter((names) =>
        names.every((name) => lock.isAtRest(name)),
      );
      for (const name of left.flat()) disk.discard(join(folder, name));
      for (const { name, kind } of disk.files.list(folder) ?? []) {
        const ofProcess = name === 'lock' || tokenIn(name) !== undefined;
        if (kind === 'file' && !ofProcess) disk.discard(join(folder, name));
      }
    } finally {
      lock.release(token);
      lock.close();
    }
    removeIfEmpty(disk, folder);
  } catch (error) {
    throw storageError(error, 'remove the files of the server');
  }
}
