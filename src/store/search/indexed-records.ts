import type { AnyRecordType, SearchFields } from '../../core/record-type.ts';
import type { LiveRecords } from '../records/live-records.ts';
import { inSlices, type Steps } from '../records/slices.ts';
import { SearchIndex } from './index.ts';
import { Sizes } from './sizes.ts';

/** A larger file is not indexed. */
const maxIndexedBytes = 1024 * 1024;
/** How large all indexed files may be together. */
const maxTotalBytes = 32 * 1024 * 1024;
/** How many different words the index may have. */
const maxWords = 200_000;
/** How many words it may have, every use of each. */
const maxTokens = 6_000_000;
/** Larger files come after all others, the smallest of them first. */
const smallBytes = 64 * 1024;
/** From this share of a file's size on another one is about as large. */
const alike = 0.75;
/** A search waits until so much is indexed, however long that takes. */
const awaitedBytes = 6 * 1024 * 1024;
const awaitedWords = 75_000;
/** What is beyond that it waits for so long, in milliseconds. */
const patience = 1000;
/** How often a search looks after that whether what it must wait for is indexed, in milliseconds. */
const poll = 50;

interface Indexed {
  readonly type: AnyRecordType;
  readonly fields: SearchFields;
  readonly bytes: number;
}

/**
 * The records of a view in a search index, within bounds: beyond them the largest are left out.
 *
 * The view announces each record that comes, changes or goes before it is read, so what is to be done
 * is known without looking at any other.
 */
export class IndexedRecords {
  readonly index = new SearchIndex();
  readonly #view: LiveRecords;
  readonly #types: readonly AnyRecordType[];
  readonly #records = new Map<string, Indexed>();
  /** Announced since the index was begun. */
  readonly #changed = new Set<string>();
  /** Goes through them; to look for the first one again each time would pass all that are done. */
  #next = this.#changed.values();
  /** There when the index was begun, and not looked at yet, the last one first; undefined before. */
  #begun: string[] | undefined;
  /** Waiting because they are large, and left out, by path with their sizes. */
  readonly #large = new Sizes();
  readonly #leftOut = new Sizes();
  #bytes = 0;
  #closed = false;
  #work: Promise<void> | undefined;

  constructor(view: LiveRecords, types: readonly AnyRecordType[]) {
    this.#view = view;
    this.#types = types;
    view.onChange((path) => {
      if (this.#begun) this.#changed.add(path);
    });
  }

  /** What is indexed of the record at a path; undefined when it is not. */
  at(path: string): Indexed | undefined {
    return this.#records.get(path);
  }

  /** The records that are not in the index: left out, or not looked at yet. */
  missing(): string[] {
    const waiting = [...(this.#begun ?? []), ...this.#changed, ...this.#large.paths()];
    return [...new Set([...waiting, ...this.#leftOut.paths()])];
  }

  /**
   * Brings the index in line with what the view has now.
   *
   * Searches at the same time wait for the same work. Of a large memory one does not wait for all:
   * the work goes on after it.
   */
  async update(): Promise<void> {
    this.#begun ??= this.#types.flatMap((type) => [...this.#view.pathsOf(type)]).reverse();
    const start = performance.now();
    while (this.#isBehind()) {
      const left = start + patience - performance.now();
      if (left <= 0 && this.#isLarge()) return;
      await soon(this.#start(), left > 0 ? left : poll);
    }
  }

  /** Ends the work that no search waits for. */
  close(): void {
    this.#closed = true;
  }

  #start(): Promise<void> {
    if (this.#work) return this.#work;
    const work = inSlices(this.#steps()).finally(() => {
      this.#work = undefined;
    });
    this.#work = work;
    // It may fail when no search waits for it any more; the next one begins where it ended.
    work.catch(() => undefined);
    return work;
  }

  #isLarge(): boolean {
    return this.#bytes > awaitedBytes || this.index.words > awaitedWords;
  }

  #isBehind(): boolean {
    return this.#changed.size + this.#large.count + (this.#begun?.length ?? 0) > 0;
  }

  *#steps(): Steps {
    while (this.#isBehind() && !this.#closed) {
      const changed = this.#firstChanged();
      const path = changed ?? this.#begun?.pop();
      if (changed !== undefined) {
        // What is written now has to be found, whatever has to go for it.
        yield* this.#update(changed, smallBytes, maxIndexedBytes);
      } else if (path === undefined) {
        const [smallest = ''] = this.#large.smallest() ?? [];
        this.#large.delete(smallest);
        yield* this.#update(smallest, maxIndexedBytes, this.#room());
      } else if (!this.#addShort(path)) {
        yield* this.#update(path, smallBytes, this.#room());
      }
      while (this.#isFull()) yield* this.#leaveOut();
      yield;
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
   * @param limit a larger one waits until the others are done.
   * @param room a larger one is left out.
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
      const fields: SearchFields = type.search(value);
      yield* this.index.upserting({ id: path, fields });
      this.#add(path, { type, fields, bytes });
    }
  }

  /** Indexes a record that is new and short in one step; returns false where that is not all to do. */
  #addShort(path: string): boolean {
    const record = this.#leftOut.count > 0 ? undefined : this.#view.known(path, smallBytes);
    if (!record?.value || this.#view.shadowedBy(record) !== undefined) return false;
    const { type, value, bytes } = record;
    const fields: SearchFields = type.search(value);
    if (!this.index.addShort({ id: path, fields })) return false;
    this.#add(path, { type, fields, bytes });
    return true;
  }

  #add(path: string, record: Indexed): void {
    this.#records.set(path, record);
    this.#bytes += record.bytes;
  }

  *#remove(path: string): Steps<boolean> {
    const known = this.#records.get(path);
    if (!known) return false;
    this.#records.delete(path);
    this.#bytes -= known.bytes;
    yield* this.index.removing(path);
    return true;
  }

  #isFull(): boolean {
    const { words, tokens } = this.index;
    return this.#bytes > maxTotalBytes || words > maxWords || tokens > maxTokens;
  }

  /** A larger file need not be tried: one of about its size is left out already. */
  #room(): number {
    const [, least = Number.POSITIVE_INFINITY] = this.#leftOut.smallest() ?? [];
    return Math.min(maxIndexedBytes, alike * least);
  }

  /** Takes the largest record out of the index. */
  *#leaveOut(): Steps {
    let [path, most] = ['', -1];
    for (const [at, { bytes }] of this.#records) if (bytes > most) [path, most] = [at, bytes];
    yield* this.#remove(path);
    this.#leftOut.set(path, most);
  }

  /** Gives the smallest of those that are left out another chance. */
  #takeBack(): void {
    const [path = '', bytes = maxIndexedBytes + 1] = this.#leftOut.smallest() ?? [];
    if (bytes > maxIndexedBytes) return;
    this.#leftOut.delete(path);
    this.#large.set(path, bytes);
  }
}

/** Waits for work, at most so many milliseconds. */
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
