import { indexPath } from '../index/known-index.ts';
import { busy, GitLock, type LockWait, waitFor } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { HeldRef, RefDraft } from '../refs/ref-change.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { RepositorySite } from './recovery.ts';

/** The git locks of a mutation. */
export interface Locks {
  readonly index: GitLock;
  /** The branch with HEAD that names it, or a detached HEAD; undefined until it is locked. */
  ref: HeldRef | undefined;
  /** Whether they must stay for the next process that cleans up. */
  kept: boolean;
}

/** Opens the lock of the index, to be filled before it is acquired: git does not wait for it. */
export function openLocks(
  { disk, folder, tree }: Pick<RepositorySite, 'disk' | 'folder'> & { readonly tree: WorkTree },
  token: ProcessToken,
): Locks {
  const index = GitLock.open(disk, indexPath(disk.files, tree), 'index', folder, token);
  return { index, ref: undefined, kept: false };
}

/** Releases the locks that are taken, or leaves them. */
export function endLocks(locks: Locks): void {
  for (const held of [locks.ref, locks.index]) locks.kept ? held?.leave() : held?.release();
}

/**
 * Takes git's locks. That of the index comes last, and what follows must be short: git does not wait for it,
 * but for those of refs.
 *
 * While another program holds the lock of the index, it may wait for those of refs, as "git commit -a" does.
 * So they are free meanwhile.
 *
 * @param draft of the change of the ref.
 * @param isReady whether all is as planned, asked under the locks of the ref.
 * @returns whether it is; without it, the lock of the index was not taken.
 * @throws MemoryError `busy` with the path of the lock that another process holds.
 */
export function takeLocks(
  locks: Locks,
  draft: RefDraft,
  wait: LockWait,
  isReady: () => boolean,
): Promise<boolean> {
  const { index } = locks;
  const attempt = async () => {
    if (!index.isFree) return undefined;
    const ref = await draft.lock();
    locks.ref = ref;
    if (!isReady()) return false;
    if (await index.tryAcquire()) return true;
    for (const lock of ref.locks) lock.free();
    locks.ref = undefined;
    return undefined;
  };
  return waitFor(attempt, wait, () => busy(index.path));
}
