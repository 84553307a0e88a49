import type { z } from 'zod';
import type { Codec } from './codec.ts';

/** What the search engine knows of a record, by weight of the fields. */
export interface SearchFields {
  /** Key, title, slug or name: the heaviest field. */
  readonly title: string;
  /** Value, description, text or content. */
  readonly body?: string;
  /** Why it was recorded. */
  readonly reason?: string;
  /** Context, notes, conditions of use. */
  readonly notes?: string;
  /** For the filter of the same name: a document's type, a path's type, a bank's type. */
  readonly type?: string;
  /** For the filter of the same name: a knowledge entry's category. */
  readonly category?: string;
}

/** A field with text to search. */
export type TextField = 'title' | 'body' | 'reason' | 'notes';

/**
 * How one field of a record merges when both sides changed it.
 *
 * `set`: union of what both sides added, minus what either removed, sorted.
 * `list`: the same, in the order of ours followed by what theirs added.
 * `latest`: the later of two ISO timestamps. `first`: the earlier of two ISO timestamps, the smaller
 * of two other texts.
 * `max`: the larger of two numbers.
 * `text`: line by line. `sections`: markdown by its headings and lists, prose line by line.
 * `value`: two different changes are a conflict, as are two changes of the same line in a text.
 */
export type FieldMerge =
  | 'set'
  | 'list'
  | 'latest'
  | 'first'
  | 'max'
  | 'text'
  | 'sections'
  | 'value';

/** How a record merges, field by field; a field that is not named merges as `value`. */
export type MergeRule<T> = { readonly [K in keyof T]?: FieldMerge };

/**
 * What a record holds, where it lies, how it is written and how it merges.
 *
 * Paths are relative to `.memory-bank/`, with `/` between segments.
 */
export interface RecordType<T extends object> {
  /** Unique in the whole program, singular, kebab-case: `feature`, `knowledge-entry`. */
  readonly name: string;
  /** The toolset that owns the type. */
  readonly toolset: string;
  /** The folder that holds the records of this type and of no other; empty for the bank's own folder. */
  readonly folder: string;
  /** What the file holds; also the source of `schemas/<name>.json`. */
  readonly schema: z.ZodType<T>;
  readonly codec: Codec<T>;
  /** What identifies a record among those of its type; the true string, never an encoded one. */
  key(value: T): string;
  /** What else a record can be asked for by, for types whose records have an id beside the key. */
  id?(value: T): string;
  /**
   * Where a new record goes. A record that exists stays where it is.
   *
   * Unless the type has `locate`, two records may want the same place: the second goes to `…-2`.
   */
  path(value: T): string;
  /** Where the record with this key goes, for types whose path follows from the key alone. */
  locate?(key: string): string;
  /** Whether a file at this path is a record of this type. */
  owns(path: string): boolean;
  /** Whether a large folder may be divided: the store then puts new records into sub-folders of it. */
  readonly fanOut: boolean;
  /** What of it can be found by searching. */
  search(value: T): SearchFields;
  /** What `type` and `category` of these fields can be, for types whose records have them. */
  readonly vocabulary?: {
    readonly type?: readonly string[];
    readonly category?: readonly string[];
  };
  readonly merge: MergeRule<T>;
}

/** A record type whose value type does not matter to the reader of it. */
// biome-ignore lint/suspicious/noExplicitAny: T stands in argument and result positions; only `any` is both
export type AnyRecordType = RecordType<any>;

/** Declares a record type; what most of them have in common is filled in. */
export function defineRecordType<T extends object>(
  type: Omit<RecordType<T>, 'owns' | 'fanOut'> &
    Partial<Pick<RecordType<T>, 'owns' | 'fanOut'>> & { readonly extension: '.yaml' | '.md' },
): RecordType<T> {
  const { extension, ...rest } = type;
  const start = `${type.folder}/`;
  return {
    owns: (path) => path.startsWith(start) && path.endsWith(extension),
    fanOut: true,
    ...rest,
  };
}
