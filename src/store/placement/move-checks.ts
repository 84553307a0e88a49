import { relative, resolve } from 'node:path';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import { MemoryError } from '../../core/values/error.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import { findWorkTree, type WorkTree } from '../../git/repository/discover.ts';
import type { MemoryPlace } from '../../git/repository/memory-place.ts';
import type { PlacedFiles } from './memory-files.ts';
import type { PlacesOptions } from './memory-folders.ts';
import { ReviewBase } from './review-base.ts';

/** The place that a memory leaves. */
export interface MovedMemory extends PlacedFiles {
  readonly placement: MemoryPlace | undefined;
}

/** @throws MemoryError `unsupported` if the folder is not in a repository. */
export function workTreeOf({ disk }: PlacesOptions, folder: string): WorkTree {
  const tree = findWorkTree(disk.files, folder);
  if (tree && disk.files.realpath(folder) !== undefined) return tree;
  throw new MemoryError('unsupported', `${folder} is not in a git repository.`, {
    hint: `Create one: "git init ${relative(process.cwd(), resolve(folder)) || '.'}".`,
    data: { path: folder },
  });
}

/**
 * Refuses to leave changes behind that wait for a review.
 *
 * @throws MemoryError `conflict`.
 */
export async function checkReviews({ repository, folder, placement }: MovedMemory): Promise<void> {
  const base = await new ReviewBase(folder, !placement).tip(repository);
  const prefix = `refs/heads/${reviewBranches}`;
  const waiting = repository.refs
    .list(prefix)
    .filter((one) => reachableCommits(repository.odb, base, [{ name: '', ...one }]).size > 0)
    .map(({ ref }) => ref.slice(prefix.length));
  if (waiting.length === 0) return;
  throw new MemoryError('conflict', `Changes wait for a review: ${waiting.join(', ')}.`, {
    hint: 'Accept or drop them first: "memory-bank review". Nothing was changed.',
    data: { reviews: waiting },
  });
}

export function otherMemory(folder: string): MemoryError {
  return new MemoryError('already_exists', `${folder} has another memory.`, {
    hint: '"memory-bank export" and "memory-bank import" bring the records of one memory into another. Nothing was changed.',
  });
}

export function hasMoved(): MemoryError {
  return new MemoryError('busy', 'The memory was changed meanwhile.', {
    hint: 'Run the command again; what it has copied stays.',
  });
}

export function isShallow({ top }: WorkTree): MemoryError {
  return new MemoryError('unsupported', `${top} is a shallow clone: its history cannot be moved.`, {
    hint: `Run "git -C ${top} fetch --unshallow".`,
  });
}

/** Git cannot have a branch and another one below its name. */
export function checkFree(branches: readonly string[], wanted: string): void {
  const blocking = branches.find(
    (branch) => branch.startsWith(`${wanted}/`) || wanted.startsWith(`${branch}/`),
  );
  if (blocking === undefined) return;
  throw new MemoryError(
    'already_exists',
    `Git cannot have the branch ${wanted} next to the branch ${blocking}.`,
    { hint: 'Give another name with --branch, or rename the other branch. Nothing was changed.' },
  );
}
