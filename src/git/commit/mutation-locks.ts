import { indexPath } from '../index/known-index.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { HeldRef } from '../refs/ref-change.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { RepositorySite } from './recovery.ts';

/** Work under locks; undefined if it changed nothing. */
export type LockedWork<T> = (locks: Locks) => Promise<T | undefined>;

/** The git locks of a mutation. */
export interface Locks {
  readonly index: GitLock;
  /** The branch with HEAD that names it, or a detached HEAD; undefined until the change is ready. */
  ref: HeldRef | undefined;
  /** Whether they must stay for the next process that cleans up. */
  kept: boolean;
}

/** The locks that are taken. */
export function allLocks({ ref, index }: Locks): GitLock[] {
  return [...(ref?.locks ?? []), index];
}

/** Whether all locks are still ours; an undone mutation may have released that of the index. */
export function areHeld(locks: Locks): boolean {
  return allLocks(locks).every((lock) => lock.isOurs());
}

/** Opens the lock of the index, to be filled before it is acquired: git does not wait for it. */
export function openIndexLock(
  { disk, folder, tree }: Pick<RepositorySite, 'disk' | 'folder'> & { readonly tree: WorkTree },
  token: ProcessToken,
): GitLock {
  return GitLock.open(disk, indexPath(disk.files, tree), 'index', folder, token);
}

/**
 * Runs work under git's lock of the index. The work takes that of the ref, which comes next in git's order.
 *
 * @param index its lock, opened.
 */
export async function underLocks<T>(
  index: GitLock,
  wait: LockWait,
  work: (locks: Locks) => Promise<T>,
): Promise<T> {
  await index.acquire(wait);
  const locks: Locks = { index, ref: undefined, kept: false };
  try {
    return await work(locks);
  } finally {
    for (const held of [locks.ref, locks.index]) locks.kept ? held?.leave() : held?.release();
  }
}
