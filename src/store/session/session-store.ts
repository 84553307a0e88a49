import {
  formatAddress,
  parseAddress,
  readStatements,
} from '../../core/markdown/section-statements.ts';
import { cautionOf } from '../../core/memory/answer-fields.ts';
import { isOfAgentAlone } from '../../core/memory/hit-form.ts';
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
import type { RecordType } from '../../core/record/record-type.ts';
import { addTo } from '../../core/values/multimap.ts';
import { HistoryReader } from '../history/history-reader.ts';
import type { MemoryHistory } from '../history/memory-history.ts';
import type { CallRights } from '../records/call-rights.ts';
import type { ChangeLog } from '../records/change-log.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { RecordReader } from '../records/record-reader.ts';
import type { LiveTransaction } from '../records/transaction.ts';
import type { RecordSearch } from '../search/record-search.ts';
import type { TextChange } from '../secrets/guard.ts';
import type { Asked, HitChanges } from './hit-changes.ts';
import { SessionStates } from './session-states.ts';

type Doubts = ReadonlyMap<string, RecordDoubts>;

/** A record that replaces a hit is looked for among at least this many matches. */
const leastPool = 100;
/** Length from which on the key of a record in a text names the record. */
const leastKey = 12;

/** The parts of a workspace that the stores of all calls share. */
export interface StoreParts {
  readonly history: MemoryHistory;
  readonly search: RecordSearch;
  readonly local: LocalState;
  readonly log: ChangeLog;
  /** Saves the search index for other processes; returns false if it lacks a record. */
  readonly saveIndex: () => Promise<boolean>;
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
    this.states = new SessionStates(
      this.#memory.view,
      parts.log,
      () => this.#read(),
      parts.saveIndex,
    );
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
    const found = await this.#search.find(request, readable);
    const reader = await this.#historyReader(true);
    if (!reader) return found;
    const doubts = await this.#doubtsOf(reader, found.hits);
    const missing = successorsBeyond(found.hits, doubts);
    if (missing.length === 0 || found.total <= found.hits.length) {
      return { ...found, hits: await this.#trusted(reader, labelled(found.hits, doubts), request) };
    }
    // Some of them may match less well than all hits.
    const limit = Math.max(leastPool, 2 * found.hits.length);
    const more = await this.#search.find({ ...request, limit }, readable);
    const successors = more.hits.filter((hit) => missing.some((address) => isOf(hit, address)));
    const later = await this.#doubtsOf(reader, successors);
    const known = new Map([...doubts, ...later]);
    const hits = labelled([...found.hits, ...successors], known).slice(0, found.hits.length);
    return { ...found, hits: await this.#trusted(reader, hits, request) };
  }

  /**
   * Adds when and by whom each hit was last changed. Of about equally good ones on one subject, what only
   * an agent has written comes last.
   */
  async #trusted(
    reader: HistoryReader,
    hits: readonly SearchHit[],
    { sure, maxWaitMs }: SearchRequest,
  ): Promise<readonly SearchHit[]> {
    const dated = await this.#addChanges(reader, hits, undefined, maxWaitMs);
    return sure ? dated : trustedFirst(dated);
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

  #doubtsOf(reader: HistoryReader, hits: readonly SearchHit[]): Promise<Doubts> {
    return this.#doubts(reader, hits.flatMap(addressesOf));
  }

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
        return changes.some((change) => cites(change, path));
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

/** Whether a change names a record that its text did not name before: by its path, or by its key. */
function cites({ path, before = '', after = '' }: TextChange, record: string): boolean {
  const key = record.slice(record.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
  // A short key may be a word.
  const names = key.length >= leastKey ? [record, key] : [record];
  return path !== record && names.some((one) => after.includes(one) && !before.includes(one));
}

/** The addresses of the section of a hit and of its record. */
function addressesOf({ path, section }: SearchHit): string[] {
  return section === undefined ? [path] : [formatAddress({ path, section }), path];
}

/** Whether a hit is of a record, or of a section of one. */
function isOf({ path, section = '' }: SearchHit, address: string): boolean {
  const wanted = parseAddress(address);
  if (wanted.path !== path) return false;
  return wanted.section === undefined || ` > ${section}`.endsWith(` > ${wanted.section}`);
}

/** The address of the record or section that replaces a hit. */
function successorOf(hit: SearchHit, doubts: Doubts): string | undefined {
  return addressesOf(hit).flatMap((address) => doubts.get(address)?.successor ?? [])[0];
}

/** The addresses of what replaces one of the hits and is none of them. */
function successorsBeyond(hits: readonly SearchHit[], doubts: Doubts): readonly string[] {
  const successors = new Set(hits.flatMap((hit) => successorOf(hit, doubts) ?? []));
  return [...successors].filter((address) => !hits.some((hit) => isOf(hit, address)));
}

/** Adds what is known against the hits; of hits with one score, those without come first. */
function labelled(hits: readonly SearchHit[], doubts: Doubts): readonly SearchHit[] {
  const found = hits.map((hit) => {
    const caution = addressesOf(hit).flatMap((address) => cautionOf(doubts.get(address)));
    return caution.length > 0 ? { ...hit, caution } : hit;
  });
  if (found.every(({ caution }) => !caution)) return hits;
  found.sort((a, b) => b.score - a.score || Number(!!a.caution) - Number(!!b.caution));
  return afterSuccessors(found, (hit) => successorOf(hit, doubts));
}

/** Moves each hit that another one replaces behind it; its score becomes that of the other one. */
function afterSuccessors(
  hits: readonly SearchHit[],
  replacement: (hit: SearchHit) => string | undefined,
): readonly SearchHit[] {
  const ordered = [...hits];
  for (const hit of hits) {
    const successor = replacement(hit);
    if (successor === undefined) continue;
    const from = ordered.indexOf(hit);
    const to = ordered.findIndex((one) => isOf(one, successor));
    const score = ordered[to]?.score;
    if (to <= from || score === undefined) continue;
    ordered.splice(from, 1);
    const { group: _, ...rest } = hit;
    ordered.splice(to, 0, { ...rest, score });
  }
  return ordered;
}

/** Moves hits behind those of their group that a person has written or confirmed. */
function trustedFirst(hits: readonly SearchHit[]): readonly SearchHit[] {
  const groups = new Map<number, SearchHit[]>();
  for (const hit of hits) if (hit.group !== undefined) addTo(groups, hit.group, hit);
  const ordered = [...hits];
  for (const own of groups.values()) {
    const sorted = own.toSorted((a, b) => Number(isUnconfirmed(a)) - Number(isUnconfirmed(b)));
    for (const [index, hit] of own.entries()) {
      const one = sorted[index];
      if (!one) continue;
      const passed = sorted.slice(index + 1).find((next) => own.indexOf(next) < own.indexOf(one));
      const later = passed && addressesOf(passed)[0];
      ordered[hits.indexOf(hit)] = { ...one, score: hit.score, ...(later && { later }) };
    }
  }
  return ordered;
}

/** Whether no person has written or confirmed a hit. */
function isUnconfirmed({ changed }: SearchHit): boolean {
  return changed !== undefined && isOfAgentAlone(changed);
}
