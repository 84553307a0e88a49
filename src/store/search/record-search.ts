import type {
  FileHit,
  LeftOut,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../core/memory/search-hit.ts';
import type { RecordText, SimilarRecord } from '../../core/memory/store.ts';
import { formatAddress } from '../../core/names/record-address.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { searchedFields } from '../../core/record/searched-fields.ts';
import { invalid } from '../../core/values/error.ts';
import type { LiveRecords } from '../records/live-records.ts';
import { toListing } from '../records/record-reader.ts';
import { inSlices, type Steps } from '../records/slices.ts';
import { FileIndex } from './file-index.ts';
import type { Hit, SearchDocument } from './index.ts';
import { type EarlierIndex, IndexedRecords } from './indexed-records.ts';
import { type MeaningSignal, prepareMeanings } from './meaning/meaning.ts';
import type { ProjectText } from './meaning/training-matrix.ts';
import type { WordTable } from './meaning/word-table.ts';
import type { WordVectors } from './meaning/word-vectors.ts';
import { OwnAliases } from './query/own-aliases.ts';
import { SearchFilter } from './query/search-filter.ts';
import { similarRecords, type WrittenRecord } from './similar-records.ts';
import type { CommonWords } from './text/common-words.ts';

export const maxLimit = 1000;

/** Limit of bytes that one literal search reads from files that are not indexed. */
export const maxReadBytes = 32 * 1024 * 1024;
/** Limit of files that are named as not indexed. */
const maxNamed = 3;

/** Searches the records of a view. */
export class RecordSearch {
  readonly #view: LiveRecords;
  readonly #types: readonly AnyRecordType[];
  readonly #indexed: IndexedRecords;
  #files: FileIndex | undefined;
  /** Returns the signals of meaning; they are loaded by the first search by words. */
  readonly #signals: () => Promise<readonly MeaningSignal[]>;
  /** Returns the table of words that ships with the program. */
  readonly #table: () => WordTable | undefined;
  readonly #aliases: OwnAliases;
  /** Returns the words that say little in the project. */
  readonly #common: () => CommonWords;

  constructor(
    view: LiveRecords,
    types: readonly AnyRecordType[],
    signals: () => Promise<readonly MeaningSignal[]> = async () => [],
    table: () => WordTable | undefined = () => undefined,
    synonyms: () => readonly (readonly string[])[] = () => [],
    common: () => CommonWords = () => new Map(),
  ) {
    this.#view = view;
    this.#types = types;
    this.#signals = signals;
    this.#table = table;
    this.#common = common;
    this.#aliases = new OwnAliases(synonyms);
    this.#indexed = new IndexedRecords(view, types);
  }

  /** Sets the index of an earlier process; see `IndexedRecords`. */
  adopt(earlier: EarlierIndex | undefined): void {
    this.#indexed.adopt(earlier);
  }

  /** Whether the index has every record that fits. */
  get isComplete(): boolean {
    return this.#indexed.isComplete;
  }

  /** Encodes the index in steps, with one row for each path. */
  saving(paths: readonly string[]): Steps<Uint8Array[]> {
    return this.#indexed.saving(paths, this.#table());
  }

  /** Updates the index; returns false if it lacks a record, also one that it leaves out. */
  async becomesComplete(): Promise<boolean> {
    await this.#indexed.update();
    return this.isComplete && this.#indexed.missing().length === 0;
  }

  /** The number of changes of the index so far. */
  get changes(): number {
    return this.#indexed.changes;
  }

  /** One number for each record in the index, another one when the number of its words changes. */
  *fingerprints(): Steps<Uint32Array> {
    const found: number[] = [];
    for (const fingerprint of this.#indexed.index.fingerprints()) {
      found.push(fingerprint);
      yield;
    }
    return Uint32Array.from(found).sort();
  }

  /** Learns vectors of words from the records and other texts; undefined if they are too few. */
  learning(others: readonly ProjectText[]): Steps<WordVectors | undefined> {
    return this.#indexed.index.learning(others);
  }

  /** Stops the indexing that runs in the background. */
  close(): void {
    this.#indexed.close();
  }

  /**
   * Searches the current records of the view.
   *
   * @param readable whether a record may be found, or named as damaged; undefined for all records.
   */
  async find(
    request: SearchRequest,
    readable: ((path: string) => boolean) | undefined,
  ): Promise<SearchResult> {
    const mayRead = readable ?? (() => true);
    const { query, types = this.#types, limit = 20, offset = 0 } = request;
    if (query.trim() === '') throw invalid(['query'], 'must not be blank');
    const wanted = new SearchFilter(request, types);
    // Words are made of letters and digits; anything else can only be found literally.
    const fuzzy = (request.fuzzy ?? true) && /[\p{L}\p{N}]/u.test(query);
    const [meanings] = await Promise.all([
      fuzzy && !request.sure ? prepareMeanings(await this.#signals(), query) : [],
      this.#indexed.update(request.maxWaitMs),
    ]);
    const { unread } = this.#indexed;
    const damaged = types.flatMap((type) => {
      const files = this.#view.broken(type).filter(({ path }) => mayRead(path));
      return toListing(files, this.#view, () => undefined).damaged;
    });
    const missing = this.#missing(wanted, mayRead);
    const rest = new Rest(this.#view, missing, wanted);
    const filter = (path: string) => {
      const record = this.#indexed.at(path);
      if (!record || !wanted.accepts(path, record.type, record.labels)) return false;
      return mayRead(path);
    };
    const steps = this.#indexed.index.searching(query, {
      ...((readable || !wanted.acceptsAll(this.#types)) && { filter }),
      limit: Math.min(limit, maxLimit),
      offset,
      ...(request.fields && { fields: request.fields }),
      ...(request.sure && { sure: request.sure, common: this.#common() }),
      fuzzy,
      meanings,
      ...(fuzzy && !request.sure && { aliases: this.#aliases.now }),
      // In some fields only, words decide.
      ...(fuzzy && !request.sure && !request.fields && { table: this.#table() }),
      explain: request.explain ?? false,
      rest,
    });
    const { hits, total } = await inSlices(steps);
    const found = await inSlices(this.#hits(hits));
    return {
      hits: found,
      total,
      damaged,
      ...(missing.length > 0 && { leftOut: rest.report() }),
      ...(unread > 0 && { unread }),
    };
  }

  /** Searches files of the project, with an index of their own that the next search finds again. */
  async findFiles(
    files: readonly RecordText[],
    { query, fuzzy = true, limit = 20 }: SearchRequest,
  ): Promise<readonly FileHit[]> {
    this.#files = this.#files?.has(files) ? this.#files : new FileIndex(files);
    return this.#files.find(files, query, { fuzzy, limit, table: this.#table() });
  }

  /** Finds the records that say nearly the same as another one; until the index is ready, only in that one. */
  similar(
    written: WrittenRecord,
    mayRead: (path: string) => boolean,
    isLive: (path: string) => boolean = () => true,
  ): readonly SimilarRecord[] {
    const isReady = this.#indexed.isReady();
    return similarRecords(
      written,
      (document) => (isReady ? this.#indexed.index.similar(document) : []),
      (path) => {
        const record = mayRead(path) ? this.#view.known(path) : undefined;
        return record?.value ? { type: record.type, path, value: record.value } : undefined;
      },
      isLive,
    );
  }

  /** Finds the records that say nearly the same; each pair is at the record whose path is later. */
  async alike(
    mayRead: (path: string) => boolean,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly SimilarRecord[]>> {
    await this.#indexed.update();
    return inSlices(this.#alike(mayRead), () => signal.throwIfAborted());
  }

  *#alike(mayRead: (path: string) => boolean): Steps<Map<string, readonly SimilarRecord[]>> {
    const found = new Map<string, readonly SimilarRecord[]>();
    for (const path of this.#view.paths().sort()) {
      yield;
      const record = mayRead(path) ? this.#view.known(path) : undefined;
      if (!record?.value) continue;
      const written = { type: record.type, path, value: record.value };
      const similar = this.similar(written, (other) => other < path && mayRead(other));
      if (similar.length > 0) found.set(path, similar);
    }
    return found;
  }

  /** The records that pass the filter and are not in the index. */
  #missing(wanted: SearchFilter, mayRead: (path: string) => boolean): string[] {
    return this.#indexed.missing().filter((path) => {
      const type = this.#view.typeOf(path);
      return type !== undefined && wanted.covers(path, type) && mayRead(path);
    });
  }

  *#hits(hits: readonly Hit[]): Steps<SearchHit[]> {
    const found: SearchHit[] = [];
    for (const { id, later, ...hit } of hits) {
      const record = this.#view.known(id);
      if (record?.key !== undefined && record.value) {
        const { type, key, path, value } = record;
        const fields = this.#indexed.index.fieldsOf(id) ?? type.search(value);
        const newer = later && { later: formatAddress(later) };
        found.push({ type, key, path, value, fields, ...hit, ...newer });
      }
      yield;
    }
    return found;
  }
}

/** The records that are not in the index, each read when a literal search reaches it. */
class Rest implements Iterable<SearchDocument | undefined> {
  readonly #view: LiveRecords;
  readonly #paths: readonly string[];
  readonly #wanted: SearchFilter;
  #read = 0;

  constructor(view: LiveRecords, paths: readonly string[], wanted: SearchFilter) {
    this.#view = view;
    this.#paths = paths;
    this.#wanted = wanted;
  }

  *[Symbol.iterator](): Iterator<SearchDocument | undefined> {
    let left = maxReadBytes;
    for (const path of this.#paths) {
      const record = this.#view.known(path, left);
      if (record && record.bytes > left) return;
      this.#read += 1;
      left -= record?.bytes ?? 0;
      // Reading a large file is a step by itself.
      yield undefined;
      if (!record?.value || this.#view.shadowedBy(record) !== undefined) continue;
      const fields = searchedFields(record.type, record.value);
      if (this.#wanted.accepts(path, record.type, fields)) yield { id: path, fields };
    }
  }

  report(): LeftOut {
    return {
      records: this.#paths.length,
      read: this.#read,
      paths: [...this.#paths].sort().slice(0, maxNamed),
    };
  }
}
