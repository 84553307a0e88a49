import { MemoryError } from '../core/error.ts';
import type { Sides } from '../store/merge/diff3.ts';
import type { DriverChange, DriverEdit } from '../store/merge/driver-config.ts';
import type { MergedFile } from '../store/merge/merge-file.ts';
import { program } from './workspaces.ts';

/**
 * Merges three versions of a file of the memory by the record types of all toolsets.
 *
 * @param path as git names it, relative to the top of the work tree.
 * @param versions undefined for no file.
 * @param markerSize of the conflict markers, in characters.
 */
export async function mergeFile(
  path: string,
  versions: Sides<Buffer | undefined>,
  markerSize: number,
): Promise<MergedFile> {
  const { mergeFile } = await import('../store/merge/merge-file.ts');
  // Line by line is better than not at all.
  const toolsets = await program.toolsets().catch(() => []);
  const types = toolsets.flatMap((toolset) => toolset.records);
  return mergeFile(types, path, versions, markerSize);
}

/** What `setMergeDriver` would change in the configuration of a repository; undefined for nothing. */
export async function planMergeDriver(
  root: string,
  command: readonly string[] | undefined,
): Promise<DriverEdit | undefined> {
  const { planMergeDriver } = await import('../store/merge/driver-config.ts');
  return planMergeDriver(root, command);
}

/** The folder of a repository's git directory that holds the caches of servers; undefined for none. */
export async function findOwnFolder(root: string): Promise<string | undefined> {
  const { findOwnFolder } = await import('../git/repository/own-folder.ts');
  const { NodeFiles } = await import('../git/disk/file-layer.ts');
  return findOwnFolder(new NodeFiles(), root);
}

/**
 * Takes out of a repository what this program has put into its git directory: the merge driver, and the
 * caches of servers. Commits and records stay.
 */
export async function leaveRepository(root: string, durability: 'full' | 'relaxed'): Promise<void> {
  try {
    await setMergeDriver(root, undefined, durability);
  } catch (error) {
    // Without a repository there is nothing to take out.
    if (!(error instanceof MemoryError) || error.code !== 'unsupported') throw error;
  }
  const { removeOwnFolder } = await import('../git/repository/own-folder.ts');
  await removeOwnFolder(root, durability);
}

/**
 * Has native git merge the memory of a repository by this program, or no longer.
 *
 * @param command the program and its first arguments; undefined to end it.
 */
export async function setMergeDriver(
  root: string,
  command: readonly string[] | undefined,
  durability: 'full' | 'relaxed',
): Promise<DriverChange> {
  const { setMergeDriver } = await import('../store/merge/driver-config.ts');
  return setMergeDriver(root, command, durability);
}
