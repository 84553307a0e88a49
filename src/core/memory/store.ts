import type { AnnotationChanges, Annotations, StatementStatus } from '../evidence/annotations.ts';
import type { AnyRecordType, DecisionPlace, RecordType } from '../record/record-type.ts';
import type { JsonValue } from '../values/json.ts';
import type { KeyListing, Listing, ListOptions, Located } from './listing.ts';
import type { FileHit, HitChange, SearchHit, SearchRequest, SearchResult } from './search-hit.ts';

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

/** The decisions that one record type states. */
export interface CountedDecisions {
  readonly place: Pick<DecisionPlace<object>, 'name' | 'tool' | 'with'>;
  readonly count: number;
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

/** Vectors of words that a search has learned from the memory and its project. */
export interface LearnedWords {
  /** Sorted. */
  readonly terms: readonly string[];
  /** The inverse document frequency of each term. */
  readonly rarities: Float32Array;
  /** One vector after the other, all of one length. */
  readonly vectors: Int8Array;
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
  /** Returns the vectors by which a search ranks, and first learns them if need be; undefined for few texts. */
  learnedWords(): Promise<LearnedWords | undefined>;
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
  /** Notes that a reader has asked for records by their names, so that hooks may show them again. */
  used(paths: readonly string[]): Promise<void>;
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
