import type { AnyRecordType, SearchFields } from '../../core/record/record-type.ts';
import { searchedFields } from '../../core/record/searched-fields.ts';
import { monotonicTime } from '../../core/timing/clock.ts';
import type { LiveRecords } from '../records/live-records.ts';
import type { SavedRecords } from '../records/saved-records.ts';
import { allAtOnce, inSlices, type Steps } from '../records/slices.ts';
import { SearchIndex } from './index.ts';
import type { WordTable } from './meaning/word-table.ts';
import { Sizes } from './sizes.ts';
import type { Labels, SavedSearch } from './terms/saved-search.ts';
import type { RowState } from './terms/search-writer.ts';

/** A larger file is not indexed. */
export const maxIndexedBytes = 1024 * 1024;
/** Limit of the total size of all indexed files. */
export const maxTotalBytes = 32 * 1024 * 1024;
/** Limit of distinct words in the index. */
export const maxWords = 200_000;
/** Limit of words in the index, with each use counted. */
export const maxTokens = 6_000_000;
/** Larger files are indexed after all others, the smallest of them first. */
const smallBytes = 64 * 1024;
/** Two files are about equally large when the smaller one has at least this share of the larger one. */
const similarSizeRatio = 0.75;
/** A search waits until this much is indexed, however long that takes. */
const awaitedBytes = 6 * 1024 * 1024;
const awaitedWords = 75_000;
/** A write indexes this many records at once, and leaves more of them to the background. */
const inlineUpdates = 20;
/** Time that a search waits for more than that, in milliseconds. */
const maxWaitMs = 1000;
/** Interval at which a search checks after that whether enough is indexed, in milliseconds. */
const poll = 50;

interface Indexed {
  readonly type: AnyRecordType;
  readonly labels: Labels;
  readonly bytes: number;
}

interface EarlierContent {
  readonly records: SavedRecords;
  readonly saved: SavedSearch;
}

/** The index of an earlier process, and its records. */
export interface EarlierIndex {
  readonly records: SavedRecords;
  /** Reads the index; undefined if it is damaged or was not saved. */
  read(): SavedSearch | undefined;
}

/**
 * The records of a view in a search index, within limits: beyond them the largest are left out.
 *
 * The view announces each new, changed or removed record before it is read, so no other record has to
 * be checked.
 */
export class IndexedRecords {
  readonly index = new SearchIndex();
  readonly #view: LiveRecords;
  readonly #types: readonly AnyRecordType[];
  /** The records in the index; each of the earlier index is added when it is first needed. */
  readonly #records = new Map<string, Indexed>();
  /** The earlier index, and for each of its rows whether its record was added, or is gone. */
  #adopted: (EarlierContent & { readonly taken: Uint8Array }) | undefined;
  /** Paths announced since indexing began. */
  readonly #changed = new Set<string>();
  /** Iterator over `#changed`: a new one each time would skip all deleted entries again. */
  #next = this.#changed.values();
  /** Paths that existed when indexing began and are not read yet, in reverse; undefined before. */
  #begun: string[] | undefined;
  /** The path whose record is being added, which may take many steps. */
  #current: string | undefined;
  /** The index of an earlier process, until the first search reads it. */
  #earlier: EarlierIndex | undefined;
  /** Large files that wait, and files that are left out. */
  readonly #large = new Sizes();
  readonly #leftOut = new Sizes();
  #bytes = 0;
  #changes = 0;
  #closed = false;
  #work: Promise<void> | undefined;

  constructor(view: LiveRecords, types: readonly AnyRecordType[]) {
    this.#view = view;
    this.#types = types;
    view.onChange((path) => {
      if (this.#begun || this.#earlier) this.#changed.add(path);
    });
  }

  /** Sets the index of an earlier process, for the first search; later changes are applied to it. */
  adopt(earlier: EarlierIndex | undefined): void {
    if (!this.#begun) this.#earlier = earlier;
  }

  /** The number of records added and removed so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether the index has every record of the view, except for those that are left out. */
  get isComplete(): boolean {
    return this.#begun !== undefined && !this.#isBehind() && !this.#work;
  }

  /** The number of records that have to be read. */
  get unread(): number {
    const current = this.#current === undefined ? 0 : 1;
    return this.#changed.size + this.#large.count + (this.#begun?.length ?? 0) + current;
  }

  /** Encodes the index in steps, with one row for each path. */
  saving(paths: readonly string[], table: WordTable | undefined): Steps<Uint8Array[]> {
    const stateOf = (path: string): RowState => {
      return this.#leftOut.get(path) === undefined ? this.at(path) : 'left out';
    };
    return this.index.saving(paths, stateOf, table);
  }

  /** The index entry of the record at a path; undefined when it is not indexed. */
  at(path: string): Indexed | undefined {
    return this.#records.get(path) ?? this.#take(this.#adopted?.records.rowOf(path) ?? -1);
  }

  /** The records that are not in the index: left out, or not looked at yet. */
  missing(): string[] {
    const waiting = [...(this.#begun ?? []), ...this.#changed, ...this.#large.paths()];
    if (this.#current !== undefined) waiting.push(this.#current);
    return [...new Set([...waiting, ...this.#leftOut.paths()])];
  }

  /**
   * Updates the index to the current records of the view.
   *
   * Concurrent searches wait for the same work. In a large memory a search does not wait for all of
   * it: the work continues after the search.
   *
   * @param patience how long a search waits at most, in milliseconds, also for the first records.
   */
  async update(patience?: number): Promise<void> {
    this.#begun ??= this.#begin();
    const start = monotonicTime();
    while (this.#isBehind()) {
      const work = this.#start();
      const left = start + (patience ?? maxWaitMs) - monotonicTime();
      if (left <= 0 && (patience !== undefined || this.#isLarge())) return;
      await soon(work, left > 0 ? left : poll);
    }
  }

  /** Returns the paths to read: all, or what the index of an earlier process lacks. */
  #begin(): string[] {
    const saved = this.#earlier?.read();
    const records = this.#earlier?.records;
    this.#earlier = undefined;
    if (!saved || !records) {
      this.#changed.clear();
      return this.#types.flatMap((type) => [...this.#view.pathsOf(type)]).reverse();
    }
    this.index.adopt(saved, records.paths, (path) => {
      const record = this.#view.known(path);
      return record?.value && searchedFields(record.type, record.value);
    });
    this.#adopted = { records, saved, taken: new Uint8Array(records.paths.length) };
    this.#changes += saved.facts.size;
    this.#bytes += records.bytes;
    const lacking = new Set(records.unread);
    for (const row of saved.unindexed()) {
      const bytes = records.bytesAt(row);
      this.#bytes -= bytes;
      if (!saved.isLeftOut(row)) lacking.add(row);
      else if (!lacking.has(row)) this.#leftOut.set(records.paths[row] ?? '', bytes);
    }
    for (const row of lacking) this.#changed.add(records.paths[row] ?? '');
    return [];
  }

  /** The index entry of a row of the earlier index, from now on in `#records`. */
  #take(row: number): Indexed | undefined {
    const { records, saved, taken } = this.#adopted ?? {};
    if (!records || !saved || taken?.[row] !== 0) return undefined;
    taken[row] = 1;
    const type = saved.isIndexed(row) ? records.typeAt(row) : undefined;
    if (!type) return undefined;
    const record = { type, labels: saved.labels(row), bytes: records.bytesAt(row) };
    this.#records.set(records.paths[row] ?? '', record);
    return record;
  }

  /** All records in the index. */
  #all(): Map<string, Indexed> {
    for (let row = 0; row < (this.#adopted?.taken.length ?? 0); row++) this.#take(row);
    this.#adopted = undefined;
    return this.#records;
  }

  /**
   * Whether nearly all records are indexed; otherwise begins to index them in the background.
   *
   * A write does not wait for the index, and a record that was just written need not be in it.
   */
  isReady(): boolean {
    this.#begun ??= this.#begin();
    if (!this.#isBehind()) return true;
    if (!this.#work && this.#begun.length + this.#changed.size <= inlineUpdates) {
      allAtOnce(this.#steps());
      return true;
    }
    if (!this.#closed) void this.#start();
    return this.#begun.length === 0 && this.#large.count === 0;
  }

  /** Stops indexing in the background. */
  close(): void {
    this.#closed = true;
  }

  #start(): Promise<void> {
    if (this.#work) return this.#work;
    const work = inSlices(this.#steps()).finally(() => {
      this.#work = undefined;
    });
    this.#work = work;
    // It may fail while no search waits for it; the next search resumes the work.
    work.catch(() => undefined);
    return work;
  }

  #isLarge(): boolean {
    return this.#bytes > awaitedBytes || this.index.words > awaitedWords;
  }

  #isBehind(): boolean {
    return this.unread > 0;
  }

  *#steps(): Steps {
    while (this.#isBehind() && !this.#closed) {
      try {
        yield* this.#addNext();
      } finally {
        this.#current = undefined;
      }
      while (this.#isFull()) yield* this.#leaveOut();
      yield;
    }
  }

  /** Adds the record that is next: a changed one, then the others, the large ones last. */
  *#addNext(): Steps {
    const changed = this.#firstChanged();
    const first = changed ?? this.#begun?.pop();
    const path = first ?? this.#large.smallest()?.[0] ?? '';
    this.#current = path;
    if (changed !== undefined) {
      // A new change has to be found at once, even if it evicts another record.
      yield* this.#update(path, smallBytes, maxIndexedBytes);
    } else if (first === undefined) {
      yield* this.#update(path, maxIndexedBytes, this.#room());
    } else if (!this.#addShort(path)) {
      yield* this.#update(path, smallBytes, this.#room());
    }
  }

  #firstChanged(): string | undefined {
    if (this.#changed.size === 0) return undefined;
    let next = this.#next.next();
    if (next.done) {
      this.#next = this.#changed.values();
      next = this.#next.next();
    }
    if (!next.done) this.#changed.delete(next.value);
    return next.value;
  }

  /**
   * Indexes the record at a path as it is now.
   *
   * @param limit a larger record waits until the others are done.
   * @param room a larger record is left out.
   */
  *#update(path: string, limit: number, room: number): Steps {
    this.#large.delete(path);
    this.#leftOut.delete(path);
    const record = this.#view.known(path, Math.min(limit, room));
    if (!record || record.error || this.#view.shadowedBy(record) !== undefined) {
      if (yield* this.#remove(path)) this.#takeBack();
      return;
    }
    yield* this.#remove(path);
    const { type, value, bytes } = record;
    if (bytes > room) {
      this.#leftOut.set(path, bytes);
    } else if (!value || bytes > limit) {
      this.#large.set(path, bytes);
    } else {
      const fields = searchedFields(type, value);
      yield* this.index.upserting({ id: path, fields });
      this.#add(path, { type, labels: labelsOf(fields), bytes });
    }
  }

  /** Indexes a new, short record in one step; returns false for any other. */
  #addShort(path: string): boolean {
    const record = this.#leftOut.count > 0 ? undefined : this.#view.known(path, smallBytes);
    if (!record?.value || this.#view.shadowedBy(record) !== undefined) return false;
    const { type, value, bytes } = record;
    const fields = searchedFields(type, value);
    if (!this.index.addShort({ id: path, fields })) return false;
    this.#add(path, { type, labels: labelsOf(fields), bytes });
    return true;
  }

  #add(path: string, record: Indexed): void {
    this.#records.set(path, record);
    this.#changes += 1;
    this.#bytes += record.bytes;
  }

  *#remove(path: string): Steps<boolean> {
    const known = this.at(path);
    if (!known) return false;
    this.#records.delete(path);
    this.#changes += 1;
    this.#bytes -= known.bytes;
    yield* this.index.removing(path);
    return true;
  }

  #isFull(): boolean {
    const { words, tokens } = this.index;
    if (this.index.size === 0) return false;
    return this.#bytes > maxTotalBytes || words > maxWords || tokens > maxTokens;
  }

  /** Size limit of the next file: one about as large as a file that is left out would not fit. */
  #room(): number {
    const [, least = Number.POSITIVE_INFINITY] = this.#leftOut.smallest() ?? [];
    return Math.min(maxIndexedBytes, similarSizeRatio * least);
  }

  /** Evicts the largest record from the index. */
  *#leaveOut(): Steps {
    let [path, most] = ['', -1];
    for (const [at, { bytes }] of this.#all()) if (bytes > most) [path, most] = [at, bytes];
    yield* this.#remove(path);
    this.#leftOut.set(path, most);
  }

  /** Queues the smallest file that is left out for another attempt. */
  #takeBack(): void {
    const [path = '', bytes = maxIndexedBytes + 1] = this.#leftOut.smallest() ?? [];
    if (bytes > maxIndexedBytes) return;
    this.#leftOut.delete(path);
    this.#large.set(path, bytes);
  }
}

function labelsOf({ type, category }: SearchFields): Labels {
  return { ...(type !== undefined && { type }), ...(category !== undefined && { category }) };
}

/** Waits for work, at most `time` milliseconds. */
async function soon(work: Promise<void>, time: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, time);
  });
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
