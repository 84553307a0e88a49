import type { Binding } from '../../core/declarations/workspace.ts';
import type { CommitMade } from '../../core/memory/history.ts';
import type { MadeCommit } from '../../git/commit/repository.ts';
import type { Access } from '../modes/access.ts';
import type { Actor } from './message.ts';

/** The permissions of a call, and the callbacks that report its progress and its commits. */
export interface CallRights
  extends Pick<Binding, 'session' | 'signal' | 'onCommit' | 'progress' | 'note'> {
  /** The rules of the session's mode at the time of the call. */
  access(): Promise<Access>;
  /**
   * Returns the origin of a change.
   *
   * @throws MemoryError if the call must not change anything.
   */
  actor(): Promise<Actor>;
}

/** A commit, and the folder that became a repository for it. */
export interface MadeChange extends MadeCommit {
  readonly newRepository?: string;
}

/** Describes a commit for callers, with the short name of its branch. */
export function toCommitMade({ oid, ref, newRepository }: MadeChange): CommitMade {
  const branch = ref?.replace(/^refs\/heads\//, '');
  return { oid, branch, ...(newRepository !== undefined && { newRepository }) };
}
