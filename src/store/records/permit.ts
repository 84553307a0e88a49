import type { CommitMade } from '../../core/history.ts';
import type { Binding } from '../../core/workspace.ts';
import type { Access } from '../modes/access.ts';
import type { Actor } from './message.ts';

/** The permissions of a call, and the callbacks that report its progress and its commits. */
export interface Permit extends Pick<Binding, 'signal' | 'onCommit' | 'progress'> {
  /** The rules of the session's mode at the time of the call. */
  access(): Promise<Access>;
  actor(): Promise<Actor>;
}

/** Describes a commit for callers, with the short name of its branch. */
export function toCommitMade(made: { oid: string; ref: string | undefined }): CommitMade {
  return { oid: made.oid, branch: made.ref?.replace(/^refs\/heads\//, '') };
}
