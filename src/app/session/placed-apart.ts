import { join } from 'node:path';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { findWorkTree } from '../../git/repository/discover.ts';
import { namesRemote } from '../../git/repository/known-remote.ts';
import { readPlace } from '../../git/repository/memory-place.ts';

/** Whether the memory of a project is on a branch of its own, or in another repository. */
export function isPlacedApart(root: string): boolean {
  const files = new NodeFiles();
  const tree = findWorkTree(files, root);
  return tree !== undefined && readPlace(files, tree.commonDir) !== undefined;
}

/** Whether the repository of a project's memory has a remote. */
export function hasRemote(root: string): boolean {
  const files = new NodeFiles();
  const tree = findWorkTree(files, root);
  const place = tree && readPlace(files, tree.commonDir);
  const home = place?.kind === 'repository' ? findWorkTree(files, place.folder) : tree;
  return home !== undefined && namesRemote(files, home.commonDir);
}

/** Whether a memory next to its code has a folder; undefined for a memory that is placed apart. */
export function hasMemoryFolder(root: string, name: string): boolean | undefined {
  if (isPlacedApart(root)) return undefined;
  return new NodeFiles().lstat(join(root, memoryFolderName, name)) !== undefined;
}

/** Whether a project has a memory on the branch that is checked out. */
export function isPlainMemory(root: string): boolean {
  const isThere = new NodeFiles().lstat(join(root, memoryFolderName)) !== undefined;
  return isThere && !isPlacedApart(root);
}
