import { type ErrorDetails, MemoryError } from '../values/error.ts';
import type { JsonValue } from '../values/json.ts';

/** A field, section, list item or table row that both sides of a merge changed in different ways. */
export interface FieldConflict {
  /**
   * Its name in the record: `value`, the path of its section without the title of the text,
   * `Use git > Context`, or the field above the first section. A number follows a name that occurred
   * before: `Progress (2)`.
   */
  readonly field: string;
  /** Before the changes of both sides; absent without one. */
  readonly base?: JsonValue;
  /** The value that the field gets if our side wins; absent where it is removed. */
  readonly ours?: JsonValue;
  readonly theirs?: JsonValue;
}

/** A record with changes of both sides that cannot be merged. */
export interface Conflict {
  /** Relative to `.memory-bank/`. */
  readonly path: string;
  /** `both sides changed name`. */
  readonly reasons: readonly string[];
  /** The fields that contradict each other; empty where only the record as a whole can be decided, such as a removed one. */
  readonly fields: readonly FieldConflict[];
}

/**
 * Decisions of conflicts by address: the path of a record, for all its conflicts, or a field of it,
 * `knowledge/patterns/tabs.md#value`, which counts more. Other changes are merged as usual.
 */
export interface Decisions {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  /** Texts that a person has written, by the address of a record or a field. */
  readonly texts?: ReadonlyMap<string, string> | undefined;
  /** The `state` of the conflicts that the person has seen; with other ones, nothing is merged. */
  readonly decided?: string | undefined;
}

/** The error of a merge with conflicts that are not decided. */
export class MergeConflict extends MemoryError {
  readonly conflicts: readonly Conflict[];
  /** Identifies the versions of all records in conflict, for `Decisions`. */
  readonly state: string;

  constructor(
    message: string,
    { conflicts, state }: Pick<MergeConflict, 'conflicts' | 'state'>,
    details: ErrorDetails,
  ) {
    super('conflict', message, details);
    [this.conflicts, this.state] = [conflicts, state];
  }
}

/** Limit of a value in a message, in characters. */
const maxShown = 60;

/** Formats a value of a conflict for a message, in quotes and cut. */
export function shownValue(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  const points = [...JSON.stringify(value)];
  return points.length <= maxShown ? points.join('') : `${points.slice(0, maxShown).join('')}…`;
}
