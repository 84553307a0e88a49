import type { Binding } from '../../core/declarations/workspace.ts';
import type { Access } from '../modes/access.ts';
import type { Actor } from './message.ts';

/** The permissions of a call, and the callbacks that report its progress, its waits and its commits. */
export interface CallRights
  extends Pick<Binding, 'session' | 'signal' | 'onCommit' | 'progress' | 'onWait' | 'note'> {
  /** The rules of the session's mode at the time of the call. */
  access(): Promise<Access>;
  /**
   * Returns the origin of a change.
   *
   * @throws MemoryError if the call must not change anything.
   */
  actor(): Promise<Actor>;
}
