import type { RecordType } from '../core/record-type.ts';
import type {
  Listing,
  ListOptions,
  LocalState,
  Located,
  OnStored,
  Provenance,
  SearchRequest,
  SearchResult,
  Store,
  Transaction,
} from '../core/store.ts';
import type { MemoryFolder } from './records/memory-folder.ts';
import { type Permit, toCommitMade } from './records/permit.ts';
import { RecordReader } from './records/transaction.ts';
import type { RecordSearch } from './search/record-search.ts';

/** The records of a memory for one call of one session. */
export class SessionStore implements Store {
  readonly local: LocalState;
  readonly #memory: MemoryFolder;
  readonly #search: RecordSearch;
  readonly #permit: Permit;
  /** The reader of the call; its own change replaces it. */
  #reader: RecordReader | undefined;

  constructor(memory: MemoryFolder, search: RecordSearch, local: LocalState, permit: Permit) {
    this.#memory = memory;
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
    const reader = await this.#read();
    await reader.refresh();
    const readable = reader.readsAll ? undefined : (path: string) => reader.mayRead(path);
    return this.#search.find(request, readable);
  }

  async change<R>(
    why: Provenance | ((result: R) => Provenance),
    edit: (transaction: Transaction) => Promise<R> | R,
    onStored?: OnStored,
  ): Promise<R> {
    const { actor, signal } = this.#permit;
    const access = await this.#permit.access();
    const { result, made } = await this.#memory.change(why, edit, access, await actor(), {
      signal,
      onStored,
    });
    this.#reader = undefined;
    if (made) this.#permit.onCommit(toCommitMade(made));
    return result;
  }

  async #read(): Promise<RecordReader> {
    this.#reader ??= new RecordReader(this.#memory, await this.#permit.access());
    return this.#reader;
  }
}
