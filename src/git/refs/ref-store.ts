import type { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../objects/object.ts';
import type { GitConfig } from '../repository/config.ts';
import type { HeldRef, LogPlan, LogSite, RefSite } from './ref-change.ts';
import type { StrayRef } from './stray-refs.ts';

/** How a repository keeps its refs and reflogs (the setting `extensions.refStorage`). */
export interface RefStore {
  /**
   * The value of a ref or of HEAD as it is kept: an object id, or `ref: ` and a name.
   *
   * @returns undefined if the ref does not exist; any other text if its value was lost.
   */
  value(ref: string): string | undefined;
  /** The values of the refs that all work trees share and whose names begin with a prefix. */
  values(prefix: string): ReadonlyMap<string, string>;
  /** The error for a ref whose value is neither an object id nor a name. */
  lost(ref: string): MemoryError;
  /** Whether it keeps a value of a name such as `CHERRY_PICK_HEAD`, and not git in a file of that name. */
  has(name: string): boolean;
  /** When one of some refs last changed, in milliseconds; 0 if that is not known. */
  lastChange(refs: readonly string[]): number;
  /** The last values of a ref by its reflog, the newest first; empty without one. */
  earlierValues(ref: string): Oid[];
  /** The files whose locks protect HEAD and the branch that it names; none for a detached HEAD. */
  lockedFiles(branch: string | undefined): string[];
  /** Locks a ref for a change, and HEAD if that is it or names it. */
  hold(site: RefSite, ref: string, hasHead: boolean): Promise<HeldRef>;
  /** Plans what commits of HEAD and its branch leave in reflogs. */
  planLogs(config: GitConfig, branch: string | undefined, lines: string): LogPlan;
  /** Whether a change of one of some refs stays in a reflog. */
  keepsLog(config: GitConfig, refs: readonly string[]): boolean;
  /** Brings the reflogs in line with a mutation that has happened, or was undone. */
  settleLogs(plan: LogPlan, hasHappened: boolean, site: LogSite): Promise<void>;
  /** The files of a new work tree that name its branch, by their names in its git directory. */
  filesOfNew(branch: string): [string, Buffer][];
  /** Lists what is among the refs and is not a ref, such as the files of a file manager. */
  strays(): StrayRef[];
}

/** HEAD and the branch that it names; HEAD alone if it is detached. */
export function withHead(branch: string | undefined): string[] {
  return branch === undefined ? ['HEAD'] : ['HEAD', branch];
}

/** Limit of the lines of a reflog that are read. */
export const maxLogLines = 200;

/** The ids in the lines of a reflog, the newest first. */
export function idsIn(lines: readonly (readonly Oid[])[]): Oid[] {
  return [...new Set(lines.flat())].filter((oid) => !/^0*$/.test(oid));
}
