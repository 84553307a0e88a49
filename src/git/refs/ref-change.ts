import type { Disk } from '../disk/disk.ts';
import { GitLock, type LockRole, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid, Signature } from '../objects/object.ts';
import type { GitConfig } from '../repository/config.ts';
import type { PlannedCommit, Reflog } from './reflog.ts';

/** The parts of a repository that a change of refs needs. */
export interface RefSite {
  readonly disk: Disk;
  /** Our own folder in the common git directory, with the proofs of our locks. */
  readonly folder: string;
  readonly config: GitConfig;
  readonly wait: LockWait;
  /** Takes a lock of git's protocol. */
  take(path: string, role: LockRole): Promise<GitLock>;
  /** Opens a lock, to be acquired later. */
  open(path: string, role: LockRole): GitLock;
}

/** Lets a process take locks in a repository. */
export function refSite(
  { disk, folder, config }: Pick<RefSite, 'disk' | 'folder' | 'config'>,
  token: ProcessToken,
  wait: LockWait,
): RefSite {
  const take = (path: string, role: LockRole) =>
    GitLock.take(disk, path, role, folder, token, wait);
  const open = (path: string, role: LockRole) => GitLock.open(disk, path, role, folder, token);
  return { disk, folder, config, wait, take, open };
}

/** The change of a ref that is locked. */
export interface RefChange {
  /** Its new value; undefined removes it. */
  readonly to: Oid | undefined;
  /** The lines for its reflog, the oldest first; undefined for a ref without a reflog. */
  readonly log?: { readonly commits: readonly PlannedCommit[]; readonly committer: Signature };
}

/** The lines that commits leave in reflogs, for the process that cleans up after this one. */
export interface LogPlan {
  readonly logs: readonly Reflog[];
  /** The text that is appended to each of them. */
  readonly logLines: string;
}

/** The parts of a repository that settling the reflogs of a mutation needs. */
export interface LogSite {
  readonly disk: Disk;
  /** Takes a lock over from the process that made it, or takes a new one. */
  adopt(path: string, role: LockRole): Promise<GitLock>;
}

/** Changes the refs and reflogs of a `RefStore`. */
export interface RefWriter {
  /** Opens a ref for a change, with HEAD if that is it or names it. */
  open(site: RefSite, ref: string, hasHead: boolean): OpenRef;
  /** Plans what commits of HEAD and its branch leave in reflogs. */
  planLogs(config: GitConfig, branch: string | undefined, lines: string): LogPlan;
  /** Whether a change of one of some refs stays in a reflog. */
  keepsLog(config: GitConfig, refs: readonly string[]): boolean;
  /** Brings the reflogs in line with a mutation that has happened, or was undone. */
  settleLogs(plan: LogPlan, hasHappened: boolean, site: LogSite): Promise<void>;
  /** The files of a new work tree that name its branch, by their names in its git directory. */
  filesOfNew(branch: string): [string, Buffer][];
}

/** A written change of a ref that is not locked yet. */
export interface RefDraft {
  /** The folders to settle before the lock is taken. */
  readonly folders: readonly string[];
  /** Locks the ref; the change is as if staged then. It can be locked again after its locks were freed. */
  lock(): Promise<HeldRef>;
  /** Removes all that was written. */
  discard(): void;
}

/** A ref that this process has locked, with HEAD if that names it. */
export interface HeldRef {
  /** The first one moves the ref. */
  readonly locks: readonly [GitLock, ...GitLock[]];
  /** Whether the commit point is over. */
  readonly isPlaced: boolean;
  /** Writes all that the change needs; returns the folders to settle before `place`. */
  stage(change: RefChange): Promise<string[]>;
  /** The commit point: one rename, if the ref is not removed. */
  place(): Promise<void>;
  /**
   * Does what may follow the commit point, releases the locks of HEAD, and settles all folders.
   *
   * @param folders others that are settled with them.
   */
  finish(folders: readonly string[]): Promise<void>;
  /** Releases the locks; see `GitLock.release`. */
  release(): void;
  /** Keeps the locks for the next process that cleans up. */
  leave(): void;
}

/** A ref that will be locked, before or after its change is staged. */
export interface OpenRef extends HeldRef {
  /** Takes the locks, in git's order. */
  acquire(): Promise<void>;
  /** Stages a change again, under the locks, if others have changed what it was staged on. */
  renew(change: RefChange): Promise<void>;
  /** Removes what was staged without the locks. */
  discard(): void;
}
