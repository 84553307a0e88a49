import { readStatements } from '../../core/markdown/section-statements.ts';
import { cautionOf } from '../../core/memory/answer-fields.ts';
import type { KeyListing, Listing, ListOptions, Located } from '../../core/memory/listing.ts';
import type {
  FileHit,
  HitChange,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../core/memory/search-hit.ts';
import type {
  CautionsByPath,
  CountedDecisions,
  LocalState,
  OnStored,
  Provenance,
  RecordDoubts,
  RecordStates,
  RecordText,
  SimilarRecord,
  Store,
  Transaction,
} from '../../core/memory/store.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import type { RecordType } from '../../core/record/record-type.ts';
import { HistoryReader } from '../history/history-reader.ts';
import type { MemoryHistory } from '../history/memory-history.ts';
import { logPaths } from '../layout/log-paths.ts';
import type { CallRights } from '../records/call-rights.ts';
import type { ChangeLog } from '../records/change-log.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { RecordReader } from '../records/record-reader.ts';
import type { LiveTransaction } from '../records/transaction.ts';
import type { RecordSearch } from '../search/record-search.ts';
import { trustedSearch } from '../search/trusted-search.ts';
import type { TextChange } from '../secrets/guard.ts';
import type { Asked, HitChanges } from './hit-changes.ts';
import { type SearchIndexStates, SessionStates } from './session-states.ts';

/** Length from which on the key of a record in a text names the record. */
const leastKey = 12;

/** The parts of a workspace that the stores of all calls share. */
export interface StoreParts {
  readonly history: MemoryHistory;
  readonly search: RecordSearch;
  readonly local: LocalState;
  readonly log: ChangeLog;
  readonly index: SearchIndexStates;
  doubts(
    reader: HistoryReader,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, RecordDoubts>>;
  /** Adds the last change of each hit. */
  readonly addChanges: HitChanges['addTo'];
  /** Notes that records were read or cited. */
  used(isUsed: (path: string) => boolean): Promise<void>;
}

/** The records of a memory for one call of one session. */
export class SessionStore implements Store {
  readonly local: LocalState;
  readonly states: RecordStates;
  readonly #memory: MemoryFolder;
  readonly #search: RecordSearch;
  readonly #history: MemoryHistory;
  readonly #doubts: StoreParts['doubts'];
  readonly #addChanges: StoreParts['addChanges'];
  readonly #used: StoreParts['used'];
  readonly #rights: CallRights;
  /** The reader of the call; its own change replaces it. */
  #reader: RecordReader | undefined;

  constructor(parts: StoreParts, rights: CallRights) {
    this.#memory = parts.history.memory;
    this.#history = parts.history;
    this.#search = parts.search;
    this.#doubts = parts.doubts;
    this.#addChanges = parts.addChanges;
    this.#used = parts.used;
    this.local = parts.local;
    this.#rights = rights;
    this.states = new SessionStates(this.#memory.view, parts.log, () => this.#read(), parts.index);
  }

  async get<T extends object>(type: RecordType<T>, key: string): Promise<Located<T> | undefined> {
    const found = await (await this.#read()).get(type, key);
    if (found) await this.used([found.path]);
    return found;
  }

  async used(paths: readonly string[]): Promise<void> {
    await this.#used((path) => paths.includes(path));
  }

  async list<T extends object>(type: RecordType<T>, options?: ListOptions): Promise<Listing<T>> {
    return (await this.#read()).list(type, options);
  }

  async keys<T extends object>(type: RecordType<T>): Promise<KeyListing> {
    return (await this.#read()).keys(type);
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const records = await this.#read();
    await records.refresh();
    const readable = records.readsAll ? undefined : (path: string) => records.mayRead(path);
    const find = (wanted: SearchRequest) => this.#search.find(wanted, readable);
    const reader = await this.#historyReader(true);
    if (!reader) return find(request);
    return trustedSearch<SearchHit, SearchRequest, SearchResult>(request, {
      find,
      doubts: (addresses) => this.#doubts(reader, addresses),
      dated: (hits) => this.#addChanges(reader, hits, undefined, request.maxWaitMs),
    });
  }

  async cautions(paths: readonly string[]): Promise<CautionsByPath> {
    const doubts = await this.doubts(paths);
    return new Map(
      [...doubts].flatMap(([path, one]) => {
        const caution = cautionOf(one);
        return caution.length > 0 ? [[path, caution]] : [];
      }),
    );
  }

  async doubts(paths: readonly string[]): Promise<ReadonlyMap<string, RecordDoubts>> {
    if (paths.length === 0) return new Map();
    // A record that another one names by its key may have been moved; all others are looked at by path.
    const typeOf = (address: string) => this.#history.typeOf(parseAddress(address).path);
    if (paths.some((path) => typeOf(path)?.dependsOn)) await (await this.#read()).refresh();
    const reader = await this.#historyReader();
    return reader ? this.#doubts(reader, paths) : new Map();
  }

  async similar<T extends object>(
    type: RecordType<T>,
    written: Pick<Located<T>, 'path' | 'value'>,
    section?: string,
  ): Promise<readonly SimilarRecord[]> {
    const access = await this.#rights.access();
    const similar = this.#search.similar(
      { type, ...written, section },
      (path) => access.mayRead(path),
      this.#isLive,
    );
    return this.dated(similar);
  }

  searchFiles(files: readonly RecordText[], request: SearchRequest): Promise<readonly FileHit[]> {
    return this.#search.findFiles(files, request);
  }

  async decisions(except: string): Promise<readonly CountedDecisions[]> {
    const found: CountedDecisions[] = [];
    for (const type of this.#memory.types) {
      const place = type.decisions;
      if (!place || type.toolset === except) continue;
      const { records } = await this.list(type, place.among);
      const count = records.reduce((sum, { value }) => sum + place.count(value), 0);
      found.push({ place, count });
    }
    return found;
  }

  async dated<T extends Asked>(
    places: readonly T[],
  ): Promise<readonly (T & { readonly changed?: HitChange })[]> {
    const reader = places.length === 0 ? undefined : await this.#historyReader();
    return reader ? this.#addChanges(reader, places) : places;
  }

  async alike(): Promise<ReadonlyMap<string, readonly SimilarRecord[]>> {
    const records = await this.#read();
    await records.refresh();
    const found = await this.#search.alike((path) => records.mayRead(path), this.#rights.signal);
    return new Map(
      [...found].flatMap(([path, similar]) => {
        const others = this.#isLive(path) ? similar.filter((one) => this.#isLive(one.path)) : [];
        return others.length > 0 ? [[path, others] as const] : [];
      }),
    );
  }

  /** Whether no record replaces another one: a record is expected to be like the one that it replaces. */
  readonly #isLive = (path: string) =>
    readStatements(path, this.#memory.text(path) ?? '').annotations.supersededBy === undefined;

  async change<R>(
    why: Provenance | ((result: R) => Provenance),
    edit: (transaction: Transaction) => Promise<R> | R,
    onStored?: OnStored,
  ): Promise<R> {
    const { actor } = this.#rights;
    const access = await this.#rights.access();
    let draft: LiveTransaction | undefined;
    const noting = (one: LiveTransaction) => {
      draft = one;
      return edit(one);
    };
    const { result, made } = await this.#memory.change(why, noting, access, await actor(), {
      caller: this.#rights,
      onStored,
    });
    this.#reader = undefined;
    if (made) {
      this.#rights.onCommit(made);
      let changes: readonly TextChange[] | undefined;
      await this.#used((path) => {
        changes ??= draft?.changes() ?? [];
        return changes.some((change) => cites(change, path) || isOwn(change, path));
      });
    }
    return result;
  }

  /**
   * Returns access to the commits of the memory; undefined outside of a repository, which has none.
   *
   * @param isRefreshed whether the call has brought the records in line with the disk.
   */
  async #historyReader(isRefreshed = false): Promise<HistoryReader | undefined> {
    const access = await this.#rights.access();
    if (!this.#memory.repository()) return undefined;
    return new HistoryReader(this.#history, this.#rights, access, isRefreshed);
  }

  async #read(): Promise<RecordReader> {
    this.#reader ??= new RecordReader(this.#memory, await this.#rights.access());
    return this.#reader;
  }
}

/** Whether a change is of a record; the entries of a log are known by the times of their changes. */
function isOwn({ path }: TextChange, record: string): boolean {
  return path === record && !logPaths.includes(path);
}

/** Whether a change names a record that its text did not name before: by its path, or by its key. */
function cites({ path, before = '', after = '' }: TextChange, record: string): boolean {
  const key = record.slice(record.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
  // A short key may be a word.
  const names = key.length >= leastKey ? [record, key] : [record];
  return path !== record && names.some((one) => after.includes(one) && !before.includes(one));
}
