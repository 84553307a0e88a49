import type { AnnotationChanges, Annotations } from '../../src/core/evidence/annotations.ts';
import {
  addressIn,
  annotated,
  annotationsAt,
  textAt,
} from '../../src/core/markdown/section-statements.ts';
import {
  byTime,
  type Damaged,
  type KeyListing,
  type Listing,
  type ListOptions,
  type Located,
} from '../../src/core/memory/listing.ts';
import type { SearchHit, SearchRequest, SearchResult } from '../../src/core/memory/search-hit.ts';
import type {
  LocalState,
  Provenance,
  Reader,
  RecordDoubts,
  RecordStates,
  Store,
  Transaction,
} from '../../src/core/memory/store.ts';
import { parseAddress } from '../../src/core/names/record-address.ts';
import type { AnyRecordType, RecordType } from '../../src/core/record/record-type.ts';
import { MemoryError } from '../../src/core/values/error.ts';
import type { JsonValue } from '../../src/core/values/json.ts';
import { isAsked } from '../../src/store/records/record-reader.ts';
import { SearchFilter } from '../../src/store/search/query/search-filter.ts';
import { hasEntries, MapFiles } from './test-layout.ts';

/** A commit in a test. */
export interface FakeCommit extends Provenance {
  readonly paths: readonly string[];
}

/**
 * A store that is a map from path to text, for toolset tests.
 *
 * It behaves like the real store for atomicity, no-ops and damaged files, but has no repository.
 */
export class MemoryStore implements Store {
  /** Texts by path relative to `.memory-bank/`; tests may edit them as a user would. */
  files = new Map<string, string>();
  readonly commits: FakeCommit[] = [];
  /** Local state, outside every commit. */
  readonly kept = new Map<string, JsonValue>();
  readonly local: LocalState = {
    get: async (key) => structuredClone(this.kept.get(key)),
    set: async (key, value) => {
      this.kept.set(key, structuredClone(value));
      return true;
    },
  };
  readonly #types: readonly AnyRecordType[];

  constructor(types: readonly AnyRecordType[] = []) {
    this.#types = types;
  }

  get<T extends object>(type: RecordType<T>, key: string): Promise<Located<T> | undefined> {
    return new View(this.files).get(type, key);
  }

  async used(): Promise<void> {}

  list<T extends object>(type: RecordType<T>, options?: ListOptions): Promise<Listing<T>> {
    return new View(this.files).list(type, options);
  }

  async keys<T extends object>(type: RecordType<T>): Promise<KeyListing> {
    const { records, damaged } = await this.list(type);
    const times = records.map(({ key, value }) => {
      return { key, created: Date.parse(type.created?.(value) ?? '') };
    });
    return { keys: times.sort(byTime).map(({ key }) => key), damaged };
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const hits: SearchHit[] = [];
    const damaged: Damaged[] = [];
    const needle = request.query.toLowerCase();
    const types = request.types ?? this.#types;
    const filter = new SearchFilter(request, types);
    for (const type of types) {
      const listing = await this.list<object>(type);
      damaged.push(...listing.damaged);
      for (const { key, path, value } of listing.records) {
        const fields = type.search(value);
        if (!filter.accepts(path, type, fields)) continue;
        const { fields: searched = ['title', 'body', 'reason', 'notes'] as const } = request;
        const text = searched.map((field) => fields[field]).join('\n');
        const at = text.toLowerCase().indexOf(needle);
        if (at < 0) continue;
        const match = text.slice(at, at + needle.length);
        const score = fields.title.toLowerCase() === needle ? 1 : 0.5;
        hits.push({ type, key, path, value, fields, score, matches: [match], snippet: match });
      }
    }
    hits.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
    return { hits: hits.slice(0, request.limit ?? 20), total: hits.length, damaged };
  }

  readonly states: RecordStates = {
    count: async () => this.files.size,
    changedFiles: async () => [],
    readAt: async () => [],
    damage: async () => ({ damaged: [], copies: [] }),
    saveIndex: async () => false,
    learnedWords: async () => undefined,
  };

  async dated<T extends object>(places: readonly T[]) {
    return places;
  }

  async searchFiles() {
    return [];
  }

  async decisions() {
    return [];
  }

  async similar() {
    return [];
  }

  async alike() {
    return new Map();
  }

  /** What `doubts` returns. */
  readonly doubted = new Map<string, RecordDoubts>();

  async cautions() {
    return new Map<string, readonly string[]>();
  }

  async doubts(): Promise<ReadonlyMap<string, RecordDoubts>> {
    return this.doubted;
  }

  async change<R>(
    why: Provenance | ((result: R) => Provenance),
    edit: (transaction: Transaction) => Promise<R> | R,
  ): Promise<R> {
    const draft = new Draft(new Map(this.files));
    const result = await edit(draft);
    const paths = [...new Set([...this.files.keys(), ...draft.files.keys()])]
      .filter((path) => this.files.get(path) !== draft.files.get(path))
      .sort();
    if (paths.length === 0) return result;
    const provenance = typeof why === 'function' ? why(result) : why;
    this.files = hasEntries ? this.#stored(draft.files) : draft.files;
    this.commits.push({ ...provenance, paths });
    return result;
  }

  /** The files of the other layout, which show the same texts. */
  readonly #entries = new MapFiles();

  #stored(files: ReadonlyMap<string, string>): Map<string, string> {
    this.#entries.change(this.files, files);
    return this.#entries.shown();
  }
}

class View implements Reader {
  files: Map<string, string>;

  constructor(files: Map<string, string>) {
    this.files = files;
  }

  async get<T extends object>(type: RecordType<T>, key: string): Promise<Located<T> | undefined> {
    const listing = await this.list(type);
    const found = listing.records.find((record) => record.key === key);
    if (found) return found;
    const places = type.locate?.(key);
    const bad = listing.damaged.find((entry) => places?.includes(entry.path));
    if (bad) throw bad.error;
    return undefined;
  }

  async list<T extends object>(
    type: RecordType<T>,
    options: ListOptions = {},
  ): Promise<Listing<T>> {
    const records: Located<T>[] = [];
    const damaged: Damaged[] = [];
    for (const path of [...this.files.keys()].sort()) {
      if (!type.owns(path)) continue;
      try {
        const value = type.codec.decode(this.files.get(path) ?? '', path);
        const record = { key: type.key(value), path, value };
        if (isAsked(type, record, options)) records.push(record);
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        const named = new MemoryError(error.code, `${path}: ${error.message}`, { data: { path } });
        damaged.push({ path, error: named });
      }
    }
    return { records, damaged };
  }
}

class Draft extends View implements Transaction {
  async repair(path: string, text: string): Promise<void> {
    this.files.set(path, text);
  }

  async put<T extends object>(
    type: RecordType<T>,
    value: T,
    written?: string,
  ): Promise<Located<T>> {
    const key = type.key(value);
    const path = (await this.get(type, key))?.path ?? this.#place(type, value);
    this.files.set(path, type.codec.encode(value, this.files.get(path) ?? written));
    return { key, path, value };
  }

  async annotations(address: string): Promise<Annotations | undefined> {
    const text = this.files.get(parseAddress(address).path);
    return text === undefined ? undefined : annotationsAt(address, text);
  }

  async addressOf(address: string): Promise<string | undefined> {
    const text = this.files.get(parseAddress(address).path);
    return text === undefined ? undefined : addressIn(address, text);
  }

  async text(address: string): Promise<string | undefined> {
    const text = this.files.get(parseAddress(address).path);
    return text === undefined ? undefined : textAt(address, text);
  }

  async annotate(address: string, changes: AnnotationChanges): Promise<void> {
    const { path } = parseAddress(address);
    this.files.set(path, annotated(address, this.files.get(path) ?? '', changes));
  }

  async rewrite(path: string, change: (text: string) => string): Promise<void> {
    this.files.set(path, change(this.files.get(path) ?? ''));
  }

  async forget(path: string): Promise<boolean> {
    return this.files.delete(path);
  }

  #place<T extends object>(type: RecordType<T>, value: T): string {
    const wanted = type.path(value);
    let place = type.locate?.(type.key(value)).find((path) => !this.files.has(path)) ?? wanted;
    for (let number = 2; this.files.has(place) && !type.locate; number += 1) {
      place = wanted.replace(/(\.\w+)$/, `-${number}$1`);
    }
    if (!this.files.has(place)) return place;
    throw new MemoryError('already_exists', `Another record is at ${place}.`);
  }

  async remove<T extends object>(type: RecordType<T>, key: string): Promise<boolean> {
    const found = await this.get(type, key);
    return found !== undefined && this.files.delete(found.path);
  }
}
