import type { MemoryError } from './error.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { AnyRecordType, RecordType, TextField } from './record-type.ts';

/** A record with its place. */
export interface Located<T> {
  readonly key: string;
  /** Relative to `.memory-bank/`. */
  readonly path: string;
  readonly value: T;
}

/** A file that should be a record and cannot be read as one. It is never overwritten. */
export interface Damaged {
  readonly path: string;
  /** The key, where it can be told from the file's name. */
  readonly key?: string;
  /** `damaged`, `conflict`, or `too_large` for one list, with the path in its data. */
  readonly error: MemoryError;
}

/** What an answer says of files that cannot be read: `damaged`, by name, and nothing where there are none. */
export function reportDamaged(damaged: readonly Damaged[]): JsonObject {
  if (damaged.length === 0) return {};
  return { damaged: damaged.map(({ path, error }) => ({ path, message: error.text })) };
}

/** What an answer says of records that are not in the index: a note, and nothing where all are. */
export function reportLeftOut({ leftOut }: SearchResult): JsonObject {
  if (!leftOut) return {};
  const { records, read, paths } = leftOut;
  const more = records > paths.length ? ` and ${records - paths.length} more` : '';
  const files = `Not in the index: ${paths.join(', ')}${more}.`;
  if (read === 0) return { note: `${files} Search for a literal text to read them.` };
  const rest = read < records ? `, ${records - read} not at all: narrow the search` : '';
  return { note: `${files} Searched for the literal text${rest}.` };
}

/** What an answer says of a search: what was found and where, and whether there is more. */
export function reportSearch(result: SearchResult) {
  const { hits, total, damaged } = result;
  const results = hits.map((hit) => {
    const { title, type, category } = hit.type.search(hit.value);
    return {
      toolset: hit.type.toolset,
      record: hit.type.name,
      ...(type !== undefined && { type }),
      ...(category !== undefined && { category }),
      key: hit.key,
      title,
      path: hit.path,
      score: hit.score,
      matches: [...hit.matches],
      snippet: hit.snippet,
    };
  });
  const truncated = total > results.length;
  return { results, total, truncated, ...reportDamaged(damaged), ...reportLeftOut(result) };
}

/** Records of one type in the order in which they were created. */
export function byCreation<T extends { readonly created_at: string }>(
  records: readonly Located<T>[],
): Located<T>[] {
  // Not by their text: `10:00:00Z` and `10:00:00.500Z` do not sort that way.
  return records
    .map((record) => ({ record, time: Date.parse(record.value.created_at) }))
    .sort((a, b) => a.time - b.time || (a.record.key < b.record.key ? -1 : 1))
    .map(({ record }) => record);
}

/** What a list finds: everything that can be read, and by name what cannot. */
export interface Listing<T> {
  /** By path. */
  readonly records: readonly Located<T>[];
  readonly damaged: readonly Damaged[];
}

export interface ListOptions {
  /** Only records below this folder, given relative to the type's own folder. */
  readonly under?: string;
  /** Only records with these keys: quick, however many others there are. */
  readonly keys?: readonly string[];
  /** The same by their ids, for a type that has them. */
  readonly ids?: readonly string[];
}

/** Reading the records of the working tree as they are at the time of the call. */
export interface Reader {
  /**
   * The record with this key, or undefined.
   *
   * @throws MemoryError `damaged` or `conflict` when its file cannot be read as what it should be,
   *   `forbidden` when the session's mode does not allow reading it.
   */
  get<T extends object>(type: RecordType<T>, key: string): Promise<Located<T> | undefined>;
  /** All records of a type that the session's mode allows reading. */
  list<T extends object>(type: RecordType<T>, options?: ListOptions): Promise<Listing<T>>;
}

/** One change of any number of records: all of it is committed, or none. */
export interface Transaction extends Reader {
  /**
   * Creates or replaces the record with the value's key; equal bytes change nothing.
   *
   * @throws MemoryError `forbidden` when the session's mode does not allow it, `damaged` when the
   *   file in its place cannot be read, `too_large`, `secret`.
   * @param written the text that the value was read from: kept byte for byte where it says the same.
   *   Without it the text of the existing record is kept in this way.
   */
  put<T extends object>(type: RecordType<T>, value: T, written?: string): Promise<Located<T>>;
  /** Removes a record; whether there was one. */
  remove<T extends object>(type: RecordType<T>, key: string): Promise<boolean>;
}

/** Why a change is made: the text of its commit. */
export interface Provenance {
  /** Imperative, without the `memory:` prefix, names the record: `log decision "Use JWT"`. Cut to fit one line. */
  readonly subject: string;
  /** What the caller gave as the reason; the body of the message. */
  readonly reason?: string;
  /** More trailers, by their name after `Memory-`: `{ Trigger: 'commit' }`. */
  readonly trailers?: { readonly [name: string]: string };
}

/** What to search and how. */
export interface SearchRequest {
  /** Words in any order; at least one letter or digit. */
  readonly query: string;
  /** Only records of these types. */
  readonly types?: readonly AnyRecordType[];
  /** Only records of this record type, or whose fields have this type. */
  readonly type?: string;
  /** Only records whose fields have one of these categories. */
  readonly categories?: readonly string[];
  /** Only matches in these fields are found and count. Default: all fields. */
  readonly fields?: readonly TextField[];
  /** Only the record at this path, those below this folder, or those whose path matches this glob. */
  readonly path?: string;
  /** False: the query as a literal, case-insensitive substring. Default true. */
  readonly fuzzy?: boolean;
  /** At most this many hits, 1 to 1,000. Default 20. */
  readonly limit?: number;
}

export interface SearchHit {
  readonly type: AnyRecordType;
  readonly key: string;
  readonly path: string;
  /** The record's value, as `get` would return it. */
  readonly value: object;
  /** 0 to 1, descending; 1 for a key that equals the query. */
  readonly score: number;
  /** The parts of the record that matched, as they stand in it. */
  readonly matches: readonly string[];
  /** A piece of the text around the best match. */
  readonly snippet: string;
}

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** How many records matched, the ones beyond the limit included. */
  readonly total: number;
  readonly damaged: readonly Damaged[];
  /** What is not in the index; undefined where everything is. */
  readonly leftOut?: LeftOut;
}

/** Records that a search by words does not find: large ones, or more than an index may hold. */
export interface LeftOut {
  readonly records: number;
  /** How many of them this search has read, for the literal text. */
  readonly read: number;
  /** Some of their paths. */
  readonly paths: readonly string[];
}

/**
 * Small facts about one copy of the memory that are never committed: last use, rebuildable summaries.
 *
 * They lie beside the records' history (in the git directory), so losing them loses nothing.
 */
export interface LocalState {
  /** What was last set under this key, or undefined. */
  get(key: string): Promise<JsonValue | undefined>;
  /**
   * Keeps a value, at most a few hundred kilobytes; the last writer wins.
   *
   * @returns whether it was kept: not where there is no repository, nor when all values together
   *   would take too much room.
   */
  set(key: string, value: JsonValue): Promise<boolean>;
}

/** The only way to read and change records. Bound to one session: its mode, agent and name. */
export interface Store extends Reader {
  readonly local: LocalState;
  /** @throws MemoryError `invalid_input` for a type or category that no searched record can have. */
  search(request: SearchRequest): Promise<SearchResult>;
  /**
   * Runs `edit` on the present records and commits what it changed as one commit.
   *
   * `edit` may run again when another process changed what it read; it must have no effect but
   * through the transaction. If it throws, or changes nothing, there is no commit.
   *
   * @param why the commit's text, or how to get it from what `edit` returned.
   * @returns what `edit` returned.
   */
  change<R>(
    why: Provenance | ((result: R) => Provenance),
    edit: (transaction: Transaction) => Promise<R> | R,
  ): Promise<R>;
}
