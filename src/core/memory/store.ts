import type { AnnotationChanges, Annotations, StatementStatus } from '../evidence/annotations.ts';
import type {
  AnyRecordType,
  DecisionPlace,
  RecordType,
  SearchFields,
  TextField,
} from '../record/record-type.ts';
import type { MemoryError } from '../values/error.ts';
import type { JsonValue } from '../values/json.ts';

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

/** Why readers should not rely on records, by path; records without a reason are left out. */
export type CautionsByPath = ReadonlyMap<string, readonly string[]>;

/** Why a reader should not rely on a record, and when this can change although the memory does not. */
export interface RecordDoubts {
  /** Sentences; empty for a record that nothing is known against. */
  readonly reasons: readonly string[];
  /** How sure its claim is, if it is marked as less than a fact. */
  readonly status?: Exclude<StatementStatus, 'fact'>;
  /** Whether another record replaces it. */
  readonly superseded: boolean;
  /** The path of that record, or the address of a section. */
  readonly successor?: string;
  /** Files that it depends on, relative to the top of the work tree, and the state of each. */
  readonly files: readonly (readonly [path: string, state: string])[];
  /** The commit of HEAD, if it depends on that; `''` if it is not certain to last. */
  readonly head?: string;
  /** The day of the comparison, if it depends on that: `2027-01-31`. */
  readonly day?: string;
  /** The paths of other records that it depends on. */
  readonly records?: readonly string[];
  /** The paths that it was given as evidence, relative to the root of the project. */
  readonly evidence?: readonly string[];
}

/** A record, or a decision of a log, that says nearly the same as another one. */
export interface SimilarRecord {
  readonly path: string;
  /** The path of the decision in the text of its log. */
  readonly section?: string;
  readonly title: string;
  /** The share of the words of both that both have, 0 to 1. */
  readonly likeness: number;
  /** The beginning of its answer, on one line. */
  readonly answer: string;
  /** Its state; undefined for a record without one. */
  readonly state?: string;
  /** Its last change; undefined if it is not known. */
  readonly changed?: HitChange;
}

/** The least likeness of two texts that say nearly the same. */
export const leastLikeness = 0.6;

/** A file of the project, and the record that it belongs to. */
export interface RecordText {
  /** Relative to the root of the project. */
  readonly file: string;
  readonly text: string;
  readonly type: AnyRecordType;
  readonly record: Located<object>;
}

/** A hit in a file of the project; its path is that of the record that the file belongs to. */
export interface FileHit extends SearchHit {
  readonly file: string;
}

/** The decisions that one record type states. */
export interface CountedDecisions {
  readonly place: Pick<DecisionPlace<object>, 'name' | 'tool' | 'with'>;
  readonly count: number;
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

/** Reads the records of the working tree as they are at the time of the call. */
export interface Reader {
  /**
   * Returns the record with this key, or undefined.
   *
   * @throws MemoryError `damaged` or `conflict` when its file is not a valid record, `forbidden` when
   *   the session's mode does not allow reading it.
   */
  get<T extends object>(type: RecordType<T>, key: string): Promise<Located<T> | undefined>;
  /** Lists the records of a type that the session's mode allows reading. */
  list<T extends object>(type: RecordType<T>, options?: ListOptions): Promise<Listing<T>>;
}

/** A change of any number of records, which is committed as a whole or not at all. */
export interface Transaction extends Reader {
  /**
   * Creates or replaces the record with the value's key; equal bytes change nothing.
   *
   * @param written the text that the value was read from; kept as it is if its value is equal. Without
   *   it the text of the existing record is kept in this way.
   * @throws MemoryError `forbidden` when the session's mode does not allow it, `damaged` when the
   *   existing file cannot be read, `too_large`, `secret`.
   */
  put<T extends object>(type: RecordType<T>, value: T, written?: string): Promise<Located<T>>;
  /**
   * Replaces a file that cannot be read, or whose key another file has, by the text of a record.
   *
   * @throws MemoryError `conflict` if the file counts already, or another one has the key of the text; `damaged` for a
   *   text that is not a record of its type; `forbidden`, `too_large`, `secret`.
   */
  repair(path: string, text: string): Promise<void>;
  /**
   * Returns the annotations of a record or section; undefined without the record.
   *
   * @throws MemoryError `not_found` for an unknown section of a record.
   */
  annotations(address: string): Promise<Annotations | undefined>;
  /** Returns the one address by which annotations name a record or section; as `annotations`. */
  addressOf(address: string): Promise<string | undefined>;
  /** Returns the text of a record or section; as `annotations`. */
  text(address: string): Promise<string | undefined>;
  /**
   * Sets annotations of the record or section at an address.
   *
   * @throws MemoryError `not_found`, `invalid_input` for annotations that a section cannot have, and what
   *   `put` throws.
   */
  annotate(address: string, changes: AnnotationChanges): Promise<void>;
  /**
   * Changes the text of a record, which keeps its key and path.
   *
   * @throws MemoryError `not_found`, and what `put` throws.
   */
  rewrite(path: string, change: (text: string) => string): Promise<void>;
  /** Removes the record at a path, and returns whether there was one. */
  forget(path: string): Promise<boolean>;
  /** Removes a record, and returns whether it existed. */
  remove<T extends object>(type: RecordType<T>, key: string): Promise<boolean>;
}

/** The parts of a commit message that say why a change was made. */
export interface Provenance {
  /** An imperative that names the record, without the prefix `memory:`; cut to fit one line. */
  readonly subject: string;
  /** The reason that the caller gave; the body of the message. */
  readonly reason?: string;
  /** Additional trailers, by their name after `Memory-`: `{ Trigger: 'commit' }`. */
  readonly trailers?: { readonly [name: string]: string };
  /** The text that a person confirms with the commit, which leaves it as it is. */
  readonly confirms?: Confirmed;
}

/** A text of the memory that a person has confirmed. */
export interface Confirmed {
  /** The address of its record or section. */
  readonly address: string;
  /** A hash of it, by which it is known after it was moved, and after a squash of its commits. */
  readonly text: string;
}

/** A query and its filters. */
export interface SearchRequest {
  /** Words in any order; at least one letter or digit. */
  readonly query: string;
  /** Only records of these types. */
  readonly types?: readonly AnyRecordType[];
  /** Only records of this record type, or whose fields have this type. */
  readonly type?: string;
  /** Only records whose fields have one of these categories. */
  readonly categories?: readonly string[];
  /** Searches only these fields. Default: all fields. */
  readonly fields?: readonly TextField[];
  /** Only the record at this path, those below this folder, or those whose path matches this glob. */
  readonly path?: string;
  /** If false, the query is a literal, case-insensitive substring. Default: true. */
  readonly fuzzy?: boolean;
  /** Maximum number of hits, 1 to 1,000. Default: 20. */
  readonly limit?: number;
  /** Number of the first hits to leave out. Default: 0. */
  readonly offset?: number;
  /**
   * For a text that was not written as a query, such as a prompt: only the records are found that are
   * about it with this certainty or more, by its words alone: 1 is sure. Default: all hits.
   */
  readonly sure?: number;
  /** Whether each hit says why it was found. Default: false. */
  readonly explain?: boolean;
}

/** How the search came from a word of the query to a word of a record. */
export type MatchWay =
  /** The same word, or another form of it. */
  | 'written'
  | 'form'
  /** A likely spelling, a word that begins with it, or one of the two words that it consists of. */
  | 'correction'
  | 'completion'
  | 'half'
  /** One word that the query writes as two. */
  | 'compound'
  /** The short or the full form of the word, such as `db` and `database`. */
  | 'abbreviation'
  /** A word that means about the same. */
  | 'synonym'
  /** A word that the settings of the memory name as a synonym. */
  | 'alias'
  /** The query as a literal text. */
  | 'literal';

/** A word of the query with the words of a record that match it. */
export interface ExplainedWord {
  readonly asked: string;
  readonly found: readonly {
    readonly word: string;
    readonly how: MatchWay;
    readonly fields: readonly TextField[];
  }[];
  /** The part of the score that it adds. */
  readonly added: number;
}

/** Why a record was found: the parts add up to its score. */
export interface SearchExplanation {
  readonly words: readonly ExplainedWord[];
  /** The part of the score that each other signal adds. */
  readonly signals: { readonly [name in SearchSignal]?: number };
  /** For words of the query that the record does not have, those that it has instead. */
  readonly similar?: readonly SimilarWords[];
}

/** A word of the query, and the words of a record that are used most like it, the likest first. */
export interface SimilarWords {
  readonly asked: string;
  readonly found: readonly string[];
}

/**
 * Sources of similarity of meaning.
 *
 * `learned`: vectors learned from the memory and its project. `model`: those of an embedding model.
 */
export type MeaningSignalName = 'learned' | 'model';

/**
 * `same_title`: the title is the query. `meaning`: words of the record that are used like those of the
 * query in texts about software.
 */
export type SearchSignal =
  | 'passage'
  | 'near'
  | 'title'
  | 'fit'
  | 'same_title'
  | 'meaning'
  | MeaningSignalName;

/** A text with the words that stand before it where it is shown: `not chosen`, `why`. */
export interface LabelledText {
  readonly label: string;
  readonly text: string;
}

/** The last change of a record, or of the section that a hit names. */
export interface HitChange {
  /** ISO 8601, UTC; undefined for a change that is not committed. */
  readonly at?: string;
  /** Whether the change may be older, by an unknown person or agent: in a pinned memory. */
  readonly isLatest?: true;
  /** The name of the person or agent that made it; empty if it is not known. */
  readonly by: string;
  /** `git`: it is in a commit that names none of our programs. */
  readonly maker: 'agent' | 'person' | 'git';
  /** By what it was confirmed since; undefined if it was not. */
  readonly confirmed?: 'review' | 'verification' | 'person';
  /** The person who confirmed it as it is, and when: ISO 8601, UTC. */
  readonly confirmation?: { readonly by: string; readonly at: string };
  /** The person or agent that verified it later, if another one made the change. */
  readonly verifier?: Pick<HitChange, 'by' | 'maker'>;
}

export interface SearchHit {
  readonly type: AnyRecordType;
  readonly key: string;
  readonly path: string;
  /** The record's value, as `get` would return it. */
  readonly value: object;
  /** The fields by which it is found. */
  readonly fields: SearchFields;
  /** The dated title of the entry of a log that was found; undefined for a whole record. */
  readonly entry?: string;
  /** 0 to 1, descending; 1 for a key that equals the query. */
  readonly score: number;
  /** The matched words, as the record has them. */
  readonly matches: readonly string[];
  /** The answer of the record, or the sentences of it that answer the query best. */
  readonly snippet: string;
  /** The reason, if words of the query are in it and not in the answer. */
  readonly reason?: LabelledText;
  /** The alternatives that were not chosen, if words of the query are in it and not in the answer. */
  readonly rejected?: LabelledText;
  /** The state of the record or of the decision, as it is written: `superseded`, `in_progress`. */
  readonly state?: string;
  /** Its last change; undefined if it is not known. */
  readonly changed?: HitChange;
  /** Its title, or that of the entry of a log, if only sure hits are wanted. */
  readonly title?: string;
  /** The section that it is from, for markdown with headings, in the form that readers take. */
  readonly section?: string;
  /** The first and last line of the section in the text, from 1. */
  readonly lines?: readonly [from: number, to: number];
  /** Other sections of the record that match nearly as well, the best first. */
  readonly also?: readonly string[];
  /** The address of a later hit on the same subject that follows: what this one says may be over. */
  readonly later?: string;
  /** A number that about equally good hits on one subject have in common. */
  readonly group?: number;
  /** Why a reader should not rely on the record; undefined if nothing is known against it. */
  readonly caution?: readonly string[];
  /** Why it was found, if the request asks for it. */
  readonly explanation?: SearchExplanation;
}

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** Number of records and entries of logs that matched, including those beyond the limit. */
  readonly total: number;
  readonly damaged: readonly Damaged[];
  /** Records that are not in the index; undefined if all are. */
  readonly leftOut?: LeftOut;
}

/** Records that a search by words does not find: large ones, or more than an index may hold. */
export interface LeftOut {
  readonly records: number;
  /** Number of them that this search has read, to find the literal text. */
  readonly read: number;
  /** Some of their paths. */
  readonly paths: readonly string[];
}

/**
 * Small values about one copy of the memory that are never committed, such as the last use of a bank.
 *
 * They are in the git directory. Losing them does no harm: they can be rebuilt or are not essential.
 */
export interface LocalState {
  /** Returns the value of a key, or undefined. */
  get(key: string): Promise<JsonValue | undefined>;
  /**
   * Stores a value of at most a few hundred kilobytes; the last writer wins.
   *
   * @returns whether it was stored: false if there is no repository, or if all values together would
   *   be too large.
   */
  set(key: string, value: JsonValue): Promise<boolean>;
}

/** Receives the number of files of a change that are written, and of all its files. */
export type OnStored = (done: number, total: number) => void;

/** A record with its type. */
export interface TypedRecord extends Located<object> {
  readonly type: AnyRecordType;
}

/** Shows which records have changed, so that a caller derives again only what depends on them. */
export interface RecordStates {
  /** The number of record files, damaged ones included. */
  count(): Promise<number>;
  /**
   * Returns the paths of the record files and folders that do not have a known state.
   *
   * For the same set of known states, later calls compare only what has changed since the first one.
   *
   * @param known identifies the set of known states.
   * @param isKnown whether a file or folder is known with its size, times and inode.
   */
  changedFiles(
    known: string,
    isKnown: (path: string, state: readonly number[]) => boolean,
  ): Promise<readonly string[]>;
  /** Reads the records at some paths, without those that are damaged or do not count. */
  readAt(paths: readonly string[]): Promise<readonly TypedRecord[]>;
  /** The records of some types that cannot be read, do not count or are copies; reads no other. */
  damage(
    types: readonly AnyRecordType[],
  ): Promise<Required<Pick<Listing<object>, 'damaged' | 'copies'>>>;
  /** Saves the search index for other processes; returns false if it lacks a record. */
  saveIndex(): Promise<boolean>;
}

/** The only way to read and change records, bound to one session. */
export interface Store extends Reader {
  readonly local: LocalState;
  /**
   * Lists the keys of the records that the session's mode allows reading.
   *
   * It needs no values, so it takes less time than `list`, and also lists what is too large for that.
   */
  keys<T extends object>(type: RecordType<T>): Promise<KeyListing>;
  /**
   * Finds records by words.
   *
   * @throws MemoryError `invalid_input` for a type or category that no searched record can have.
   */
  search(request: SearchRequest): Promise<SearchResult>;
  /** Finds the texts that have words of a query; the best hits first. */
  searchFiles(files: readonly RecordText[], request: SearchRequest): Promise<readonly FileHit[]>;
  /** For a caller that keeps something that is derived from the records. */
  readonly states: RecordStates;
  /**
   * Returns the records, and the decisions of logs, that say nearly the same as one that was just written
   * and that nothing replaces.
   *
   * @param section the path of the section that was written, in its record; undefined for the whole record.
   */
  similar<T extends object>(
    type: RecordType<T>,
    written: Pick<Located<T>, 'path' | 'value'>,
    section?: string,
  ): Promise<readonly SimilarRecord[]>;
  /** Counts the decisions of the record types that state any, without those of one toolset. */
  decisions(except: string): Promise<readonly CountedDecisions[]>;
  /** Adds when and by whom each record or section was last changed, where it is known. */
  dated<T extends Pick<SearchHit, 'path' | 'section'>>(
    places: readonly T[],
  ): Promise<readonly (T & { readonly changed?: HitChange })[]>;
  /** Returns all records that say nearly the same; each pair is at the record whose path is later. */
  alike(): Promise<ReadonlyMap<string, readonly SimilarRecord[]>>;
  /**
   * Returns why a reader should not rely on the records or sections at some addresses: the code that they
   * rest on has changed, or they are superseded or expired.
   */
  cautions(addresses: readonly string[]): Promise<CautionsByPath>;
  /** Returns the same for each of the addresses that can be read, and when it can change. */
  doubts(addresses: readonly string[]): Promise<ReadonlyMap<string, RecordDoubts>>;
  /**
   * Runs `edit` on the present records and makes one commit of its changes.
   *
   * `edit` runs again if another process changed records that it read, so it must not have effects
   * outside the transaction. If it throws or changes nothing, there is no commit.
   *
   * @param why the commit message, or a function that makes it from the result of `edit`.
   * @param onStored called while very many records are stored; an error that it throws cancels the change.
   * @returns the result of `edit`.
   */
  change<R>(
    why: Provenance | ((result: R) => Provenance),
    edit: (transaction: Transaction) => Promise<R> | R,
    onStored?: OnStored,
  ): Promise<R>;
}
