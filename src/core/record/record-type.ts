import type { z } from 'zod';
import type { Codec } from './codec.ts';
import { type FieldRoles, usualRoles } from './part-role.ts';

/** The fields of a record that the search engine knows, heaviest first. */
export interface SearchFields {
  /** Key, title, slug or name: the heaviest field. */
  readonly title: string;
  /** Value, description, text or content. */
  readonly body?: string;
  /** Whether the body is markdown, in which a search finds sections. */
  readonly markdown?: boolean;
  /** The reason for recording it. */
  readonly reason?: string;
  /** Context, notes, conditions of use. */
  readonly notes?: string;
  /** Value for the filter `type`: the type of a document, a path or a bank. */
  readonly type?: string;
  /** Value for the filter `category`: the category of a knowledge entry. */
  readonly category?: string;
  /** ISO 8601 date or time of the last change, if the record says so: of two like ones, the later counts. */
  readonly at?: string | undefined;
  /** The state of the record, for a type that has one; it is shown and not searched. */
  readonly state?: string;
  /** The roles of the texts, if they are not those of most types. */
  readonly roles?: FieldRoles;
}

/** One statement of a record for the brief of a session. */
export interface BriefPoint {
  /**
   * `now`: current work. `decision`: a decision, correction or preference. `about`: only of interest
   * when the branch is about it.
   */
  readonly part: 'now' | 'decision' | 'about';
  /** The statement; a brief quotes its beginning on one line. */
  readonly text: string;
  /** ISO 8601 date or time; newer points come first. */
  readonly at?: string;
  /** The section that it is from, in the form that readers take; undefined for a whole record. */
  readonly section?: string;
  /** Paths of the project and keys; the point matters to a branch that changes or names one. */
  readonly names?: readonly string[];
}

/** The records of a type that state decisions, and the tool that reads them. */
export interface DecisionPlace<T> {
  /** As a note names it. */
  readonly name: string;
  readonly tool: string;
  /** The arguments of the tool, in words; undefined for none. */
  readonly with?: string;
  /** The records that can have decisions: below a folder of the type, or with some keys. */
  readonly among: { readonly under?: string; readonly keys?: readonly string[] };
  /** Returns the number of decisions of a record. */
  count(value: T): number;
}

/** A field with text to search. */
export type TextField = 'title' | 'body' | 'reason' | 'notes';

/**
 * The rule by which one field of a record merges when both sides changed it.
 *
 * `set`: the items of both sides, without those that either side removed, sorted.
 * `list`: the same items, ours in their order, then those that theirs added.
 * `latest`: the later of two ISO timestamps. `first`: the earlier of two ISO timestamps, or the smaller
 * of two other texts.
 * `max`: the larger of two numbers.
 * `text`: line by line; two changes of one line are a conflict.
 * `sections`: markdown by its headings and lists, prose line by line.
 * `value`: two different changes are a conflict.
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

/** The merge rules of a record by field; the default is `value`. */
export type MergeRule<T> = { readonly [K in keyof T]?: FieldMerge };

/** A record by its type and key. */
export interface RecordKey {
  readonly type: AnyRecordType;
  readonly key: string;
}

/**
 * Declares a kind of record: its fields, path, file format and merge rules.
 *
 * Paths are relative to `.memory-bank/`, with `/` between segments.
 */
export interface RecordType<T extends object> {
  /** Unique in the whole program, singular, kebab-case: `feature`, `knowledge-entry`. */
  readonly name: string;
  /** The toolset that owns the type. */
  readonly toolset: string;
  /** The folder that contains only records of this type; empty for `.memory-bank/` itself. */
  readonly folder: string;
  /** The fields of the file; also the source of `schemas/<name>.json`. */
  readonly schema: z.ZodType<T>;
  readonly codec: Codec<T>;
  /** Returns the key that identifies a record among those of its type; not encoded. */
  key(value: T): string;
  /** Returns the id of a record, for types whose records have an id in addition to the key. */
  id?(value: T): string;
  /** Returns the ISO 8601 time at which the record was created, by which keys are listed. */
  created?(value: T): string;
  /**
   * Returns the path of a new record. An existing record keeps its path.
   *
   * If another record has the path, the type's other locations are tried. A type without `locate` gets a
   * number: `…-2`.
   */
  path(value: T): string;
  /**
   * Returns the paths where the record with this key can be, best first, for types whose path depends on
   * the key only. A record that is elsewhere is found as well, but more slowly.
   */
  locate?(key: string): readonly string[];
  /** Whether a file at this path is a record of this type. */
  owns(path: string): boolean;
  /** Whether the store puts new records of a large folder into sub-folders. */
  readonly fanOut: boolean;
  /** Returns the searchable fields of a record. */
  search(value: T): SearchFields;
  /** The roles of the searched texts: the answer of a record, its reason, or bookkeeping. */
  readonly roles: FieldRoles;
  /** Returns the paths of the project that fields of the record name. */
  cites?(value: T): readonly string[];
  /** Returns the paths of markdown files of the project whose text belongs to the record. */
  files?(value: T): readonly string[];
  /** Returns the records that the record depends on, by the keys in its fields. */
  dependsOn?(value: T): readonly RecordKey[];
  /** Returns the other records that fields of the record name by their keys. */
  linksTo?(value: T): readonly RecordKey[];
  /** Returns the statements of a record for a brief; a type without it is in no brief. */
  points?(value: T): readonly BriefPoint[];
  /** Where the records state decisions; absent for a type that is for anything else. */
  readonly decisions?: DecisionPlace<T>;
  /** The possible values of the search fields `type` and `category`, for types that have them. */
  readonly vocabulary?: {
    readonly type?: readonly string[];
    readonly category?: readonly string[];
  };
  readonly merge: MergeRule<T>;
}

/** A record type of any value. */
// biome-ignore lint/suspicious/noExplicitAny: T is in argument and result positions; only `any` fits both
export type AnyRecordType = RecordType<any>;

/** Declares a record type, and fills in defaults. */
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
    search: (value) => withRoles(rest.search(value), rest.roles),
  };
}

/** The fields with their roles; the usual ones go without saying. */
function withRoles(fields: SearchFields, roles: FieldRoles): SearchFields {
  return roles === usualRoles ? fields : { ...fields, roles };
}
