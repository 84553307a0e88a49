import { join } from 'node:path';
import { Disk, type Durability, removeIfEmpty } from '../disk/disk.ts';
import type { Files } from '../disk/file-layer.ts';
import { NodeFiles } from '../disk/node-files.ts';
import { storageError } from '../disk/storage-error.ts';
import { discardName } from '../locks/owned-names.ts';
import { ProcessLock, tokenIn } from '../locks/process-lock.ts';
import { findWorkTree } from './discover.ts';
import { shareTree } from './shared-repository.ts';

/** How long to wait for a server that is changing the memory, in milliseconds. */
const lockWait = { limit: 10_000 };

/** Absolute path of the folder of the servers' caches; undefined if it does not exist. */
export function findOwnFolder(files: Files, root: string): string | undefined {
  const tree = findWorkTree(files, root);
  const folder = tree && join(tree.commonDir, 'memory-bank');
  return folder !== undefined && files.lstat(folder) ? folder : undefined;
}

/**
 * Removes the servers' files from the git directory of a repository: caches and last use. A server that
 * still runs creates them again.
 *
 * Files of a half-done change stay, so that the next server can finish or undo it.
 *
 * @param root a folder of the work tree; outside a work tree there is nothing to remove.
 * @throws MemoryError `busy`, `storage`.
 */
export async function removeOwnFolder(root: string, durability: Durability): Promise<void> {
  const disk = new Disk(new NodeFiles(), durability);
  const tree = findWorkTree(disk.files, root);
  const folder = findOwnFolder(disk.files, root);
  if (!tree || folder === undefined) return;
  shareTree(disk, tree);
  try {
    const hooks = join(folder, 'hooks');
    if (disk.files.lstat(hooks)) await removeFolder(disk, hooks);
    await removeFolder(disk, folder);
  } catch (error) {
    throw storageError(error, 'remove the files of the server');
  }
}

/** Removes the files of a folder that belong to no process, under its lock, and then the folder. */
async function removeFolder(disk: Disk, folder: string): Promise<void> {
  const lock = new ProcessLock(disk, folder);
  const token = await lock.take(lockWait);
  try {
    const left = [...lock.leftovers().values()].filter((names) =>
      names.every((name) => lock.isAtRest(name)),
    );
    for (const name of left.flat()) discardName(disk, join(folder, name));
    for (const { name, kind } of disk.files.list(folder) ?? []) {
      const ofProcess = name === 'lock' || tokenIn(name) !== undefined;
      if (kind === 'file' && !ofProcess) disk.discard(join(folder, name));
    }
  } finally {
    lock.release(token);
    lock.close();
  }
  removeIfEmpty(disk, folder);
}
