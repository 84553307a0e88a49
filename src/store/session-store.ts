import { Minimatch } from 'minimatch';
import { invalid } from '../core/error.ts';
import type { AnyRecordType, RecordType } from '../core/record-type.ts';
import type {
  Listing,
  ListOptions,
  LocalState,
  Located,
  Provenance,
  SearchHit,
  SearchRequest,
  SearchResult,
  Store,
  Transaction,
} from '../core/store.ts';
import type { CommitMade } from '../core/workspace.ts';
import type { Access } from './access.ts';
import type { Bank } from './bank.ts';
import { toListing, ViewReader } from './draft.ts';
import type { Actor } from './message.ts';
import type { RecordSearch } from './record-search.ts';

/** What a call may do, and who is told of what it did. */
export interface Permit {
  /** The rules of the session's mode at the time of the call. */
  access(): Promise<Access>;
  actor(): Promise<Actor>;
  readonly signal: AbortSignal;
  onCommit(commit: CommitMade): void;
}

const maxLimit = 1000;

/** The records of a bank for one call of one session. */
export class SessionStore implements Store {
  readonly local: LocalState;
  readonly #bank: Bank;
  readonly #search: RecordSearch;
  readonly #permit: Permit;
  /** What the call has seen so far; its own change makes it look again. */
  #reader: ViewReader | undefined;

  constructor(bank: Bank, search: RecordSearch, local: LocalState, permit: Permit) {
    this.#bank = bank;
    this.#search = search;
    this.#permit = permit;
    this.local = local;
  }

  async get<T extends object>(type: RecordType<T>, key: string): Promise<Located<T> | undefined> {
    return (await this.#read()).get(type, key);
  }

  async list<T extends object>(type: RecordType<T>, options?: ListOptions): Promise<Listing<T>> {
    return (await this.#read()).list(type, options);
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const { query, types = this.#bank.types, limit = 20 } = request;
    if (query.trim() === '') throw invalid(['query'], 'must not be blank');
    const reader = await this.#read();
    await reader.refresh();
    const index = this.#search.upToDate();
    const wanted = this.#filter(request, types, reader);
    const { hits, total } = index.search(query, {
      filter: wanted,
      limit: Math.min(limit, maxLimit),
      // Words are made of letters and digits; anything else can only be found as it stands.
      fuzzy: (request.fuzzy ?? true) && /[\p{L}\p{N}]/u.test(query),
    });
    const damaged = types.flatMap((type) => {
      const files = this.#bank.view.broken(type).filter(({ path }) => reader.mayRead(path));
      return toListing(files, this.#bank.view).damaged;
    });
    return { hits: hits.flatMap((hit) => this.#hit(hit)), total, damaged };
  }

  async change<R>(
    why: Provenance | ((result: R) => Provenance),
    edit: (transaction: Transaction) => Promise<R> | R,
  ): Promise<R> {
    const { actor, signal } = this.#permit;
    const access = await this.#permit.access();
    const { result, made } = await this.#bank.change(why, edit, access, await actor(), { signal });
    this.#reader = undefined;
    if (made) this.#permit.onCommit(toCommitMade(made));
    return result;
  }

  async #read(): Promise<ViewReader> {
    this.#reader ??= new ViewReader(this.#bank, await this.#permit.access());
    return this.#reader;
  }

  #filter(
    request: SearchRequest,
    types: readonly AnyRecordType[],
    reader: ViewReader,
  ): (path: string) => boolean {
    const wanted = new Set(types);
    const glob = request.path === undefined ? undefined : pathGlob(request.path);
    return (path) => {
      const record = this.#search.record(path);
      if (!record || !wanted.has(record.type) || !reader.mayRead(path)) return false;
      if (glob && !glob.match(path)) return false;
      if (request.type !== undefined && record.fields.type !== request.type) return false;
      const { categories } = request;
      return categories === undefined || categories.includes(record.fields.category ?? '');
    };
  }

  #hit(hit: {
    readonly id: string;
    readonly score: number;
    readonly matches: readonly string[];
    readonly snippet: string;
  }): SearchHit[] {
    const record = this.#bank.view.look(hit.id);
    if (record?.key === undefined || !record.value) return [];
    const { type, key, path, value } = record;
    const { score, matches, snippet } = hit;
    return [{ type, key, path, value, score, matches, snippet }];
  }
}

/** A commit as callers are told of it: by the short name of its branch. */
export function toCommitMade(made: { oid: string; ref: string | undefined }): CommitMade {
  return { oid: made.oid, branch: made.ref?.replace(/^refs\/heads\//, '') };
}

function pathGlob(pattern: string): Minimatch {
  if (pattern.length > 256) {
    throw invalid(['path'], 'must have at most 256 characters', 'size');
  }
  // Braces and extended globs can take for ever on a pattern made for it.
  return new Minimatch(pattern, { dot: true, nobrace: true, noext: true, nocomment: true });
}
