import type { MemoryError } from '../values/error.ts';

/** A record with its key and path. */
export interface Located<T> {
  readonly key: string;
  /** Relative to `.memory-bank/`. */
  readonly path: string;
  readonly value: T;
}

/** A file that should be a record but cannot be read as one. It is never overwritten. */
export interface Damaged {
  readonly path: string;
  /** The key, if the path shows it. */
  readonly key?: string;
  /** `damaged`, `conflict`, or `too_large` for one list, with the path in its data. */
  readonly error: MemoryError;
}

/**
 * A record that git does not have, and whose name is that of a copy of a record that git has, as a cloud
 * folder names them. Both count, because the path is the key.
 */
export interface CopiedRecord {
  readonly path: string;
  /** The path of the record of which it is a copy. */
  readonly original: string;
}

/** Says what is wrong with a copy, and what to do. */
export function describeCopy({ path, original }: CopiedRecord): string {
  return `${path} is a copy of ${original} by its name, and git does not have it. Take over what ${original} lacks, then remove ${path}; commit it if it is a record of its own.`;
}

/** Sorts records of one type by their creation time, oldest first. */
export function byCreation<T extends { readonly created_at: string }>(
  records: readonly Located<T>[],
): Located<T>[] {
  // As texts, `10:00:00Z` and `10:00:00.500Z` would be in the wrong order.
  return records
    .map((record) => ({
      record,
      key: record.key,
      created: Date.parse(record.value.created_at),
    }))
    .sort(byTime)
    .map(({ record }) => record);
}

/** Orders records by their creation time, those of the same time by key. */
export function byTime(
  a: { readonly key: string; readonly created: number },
  b: { readonly key: string; readonly created: number },
): number {
  return a.created - b.created || (a.key < b.key ? -1 : 1);
}

/** The result of a list: records, and files that cannot be read. */
export interface Listing<T> {
  /** Sorted by path. */
  readonly records: readonly Located<T>[];
  readonly damaged: readonly Damaged[];
  /** Those of the records that are copies of others by their names; absent without any. */
  readonly copies?: readonly CopiedRecord[];
}

/** The keys of a type: those of the records that can be read, and files that cannot be read. */
export interface KeyListing {
  /** The oldest first, or sorted for a type without `created`. */
  readonly keys: readonly string[];
  readonly damaged: readonly Damaged[];
}

export interface ListOptions {
  /** Only records below this folder, relative to the type's folder. */
  readonly under?: string;
  /** Only records with these keys; the time does not depend on the number of other records. */
  readonly keys?: readonly string[];
  /** Only records with these ids, for a type that has ids. */
  readonly ids?: readonly string[];
}
