import { MemoryError } from '../../core/values/error.ts';
import type { Sides } from '../../store/merge/diff3.ts';
import type { DriverChange, DriverEdit } from '../../store/merge/driver-config.ts';
import type { MergedFile } from '../../store/merge/merge-file.ts';
import type {
  PullRequest,
  PullRequestClone,
  PullRequestOutcome,
} from '../../store/sync/pull-request-merge.ts';
import { program } from './workspaces.ts';

/**
 * Merges three versions of a file of the memory by the record types of all toolsets.
 *
 * @param path relative to the top of the work tree.
 * @param versions undefined for no file.
 * @param markerSize of the conflict markers, in characters.
 */
export async function mergeFile(
  path: string,
  versions: Sides<Buffer | undefined>,
  markerSize: number,
): Promise<MergedFile> {
  const { mergeFile } = await import('../../store/merge/merge-file.ts');
  // A merge by lines is better than none.
  const toolsets = await program.toolsets().catch(() => []);
  const types = toolsets.flatMap((toolset) => toolset.records);
  return mergeFile(types, path, versions, markerSize);
}

/** Refuses a merge of git in which a side has a later format; see `checkDrivenMerge`. */
export async function checkDrivenMerge(
  folder: string,
  path: string,
  versions: Sides<Buffer | undefined>,
): Promise<void> {
  const { checkDrivenMerge } = await import('../../store/sync/driven-merge.ts');
  checkDrivenMerge(folder, path, versions, process.env);
}

/**
 * Merges the bases of pull requests into their branches, where they conflict in files of the memory only,
 * and pushes the branches.
 *
 * @returns an outcome for each.
 * @throws MemoryError `remote`, or `unsupported` without git.
 */
export async function mergePullRequests(
  clone: PullRequestClone,
  requests: readonly PullRequest[],
): Promise<PullRequestOutcome[]> {
  const { PullRequestMerge } = await import('../../store/sync/pull-request-merge.ts');
  const merge = new PullRequestMerge(clone);
  await merge.fetch();
  const outcomes: PullRequestOutcome[] = [];
  for (const request of requests) outcomes.push(await merge.merge(request));
  return outcomes;
}

/** Plans the change of git's configuration that `setMergeDriver` makes; undefined for no change. */
export async function planMergeDriver(
  root: string,
  command: readonly string[] | undefined,
): Promise<DriverEdit | undefined> {
  const { planMergeDriver } = await import('../../store/merge/driver-config.ts');
  return planMergeDriver(root, command);
}

/** Returns the folder in the git directory with the caches of servers; undefined if it does not exist. */
export async function findOwnFolder(root: string): Promise<string | undefined> {
  const { findOwnFolder } = await import('../../git/repository/own-folder.ts');
  const { NodeFiles } = await import('../../git/disk/node-files.ts');
  return findOwnFolder(new NodeFiles(), root);
}

/**
 * Removes from a git directory what this program has put into it: the merge driver and the
 * caches of servers. Commits and records stay.
 */
export async function leaveRepository(root: string, durability: 'full' | 'relaxed'): Promise<void> {
  try {
    await setMergeDriver(root, undefined, durability);
  } catch (error) {
    // Without a repository there is nothing to remove.
    if (!(error instanceof MemoryError) || error.code !== 'unsupported') throw error;
  }
  const { removeOwnFolder } = await import('../../git/repository/own-folder.ts');
  await removeOwnFolder(root, durability);
}

/**
 * Sets or removes this program as git's merge driver for the memory of a repository.
 *
 * @param command the program and its first arguments; undefined to remove it.
 */
export async function setMergeDriver(
  root: string,
  command: readonly string[] | undefined,
  durability: 'full' | 'relaxed',
): Promise<DriverChange> {
  const { setMergeDriver } = await import('../../store/merge/driver-config.ts');
  return setMergeDriver(root, command, durability);
}

export type { PullRequest, PullRequestOutcome };
