import type { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../objects/object.ts';
import type { StrayRef } from './stray-refs.ts';

/** The value of a ref, as `RefStore.value` returns it. */
export type ValueOf = (ref: string) => string | undefined;

/**
 * How a repository keeps its refs and reflogs (the setting `extensions.refStorage`). A `RefWriter` changes
 * them; a process that only reads loads no code for that.
 */
export interface RefStore {
  /**
   * The value of a ref or of HEAD as it is kept: an object id, or `ref: ` and a name.
   *
   * @returns undefined if the ref does not exist; any other text if its value was lost.
   */
  value(ref: string): string | undefined;
  /** Looks at several values, where possible as they were at one moment. */
  look<T>(see: (value: ValueOf) => T): T;
  /** The values of the refs that all work trees share and whose names begin with a prefix. */
  values(prefix: string): ReadonlyMap<string, string>;
  /** The error for a ref whose value is neither an object id nor a name. */
  lost(ref: string): MemoryError;
  /** The names such as `CHERRY_PICK_HEAD` that have a value here, and not in a file of that name. */
  pseudoRefs(): ReadonlySet<string>;
  /** When one of some refs last changed, in milliseconds; 0 if that is not known. */
  lastChange(refs: readonly string[]): number;
  /** The last values of a ref by its reflog, the newest first; empty without one. */
  earlierValues(ref: string): Oid[];
  /** The files whose locks protect HEAD and the branch that it names; none for a detached HEAD. */
  lockedFiles(branch: string | undefined): string[];
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
