import type { Disk } from '../disk/disk.ts';
import { indexPath } from '../index/known-index.ts';
import type { GitLock, LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import { type HeldRef, type RefChange, type RefDraft, refSite } from '../refs/ref-change.ts';
import { writerOf } from '../refs/ref-writer.ts';
import type { Refs } from '../refs/refs.ts';
import type { GitConfig } from '../repository/config.ts';
import type { WorkTree } from '../repository/discover.ts';

/** The parts of a repository that taking git's locks needs. */
interface LockSite {
  readonly disk: Disk;
  /** Our own folder in the common git directory. */
  readonly folder: string;
  readonly config: GitConfig;
  readonly tree: WorkTree;
  readonly refs: Refs;
}

/** Work under locks; undefined if it changed nothing. */
export type LockedWork<T> = (locks: Locks) => Promise<T | undefined>;

/** The git locks of a mutation. */
export interface Locks {
  readonly index: GitLock;
  /**
   * The branch with HEAD that names it, or a detached HEAD. Undefined until the change is ready, where its
   * lock stops changes of other refs as well.
   */
  ref: HeldRef | undefined;
  /** Writes the change of a ref that is not locked yet. */
  readonly draft?: (change: RefChange) => Promise<RefDraft>;
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

/** Takes the locks in git's order, so that there is no deadlock. */
async function takeLocks(
  site: LockSite,
  ref: string | undefined,
  token: ProcessToken,
  wait: LockWait,
): Promise<Locks> {
  const { disk, tree, refs } = site;
  const locking = refSite(site, token, wait);
  const index = await locking.take(indexPath(disk.files, tree), 'index');
  try {
    const [writer, name] = [writerOf(refs), ref ?? 'HEAD'];
    const draft = writer.draft?.bind(writer, locking, name);
    if (draft) return { index, ref: undefined, draft, kept: false };
    return { index, ref: await writer.hold(locking, name, true), kept: false };
  } catch (error) {
    index.release();
    throw error;
  }
}

/**
 * Runs work under git's locks of HEAD, this branch and the index.
 *
 * @param ref full name of the branch; undefined when HEAD is detached.
 */
export async function underLocks<T>(
  site: LockSite,
  ref: string | undefined,
  token: ProcessToken,
  wait: LockWait,
  work: (locks: Locks) => Promise<T>,
): Promise<T> {
  const locks = await takeLocks(site, ref, token, wait);
  try {
    return await work(locks);
  } finally {
    for (const held of [locks.ref, locks.index]) locks.kept ? held?.leave() : held?.release();
  }
}
