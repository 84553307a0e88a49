import type { Context } from '../../core/declarations/context.ts';
import type { LogEntry } from '../../core/memory/commit-log.ts';
import { readLastCheck } from '../../core/memory/last-check.ts';
import type { Listing } from '../../core/memory/listing.ts';
import type { TypedRecord } from '../../core/memory/store.ts';
import { readSyncState } from '../../core/memory/sync-state.ts';
import type { AnyRecordType, BriefPoint } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { DamagedRecord } from './attention-lines.ts';
import type { BranchRelevance } from './branch-relevance.ts';
import type { BriefLine } from './layout.ts';
import { promptLines } from './prompt-match.ts';
import {
  type BriefSource,
  foreignLines,
  type LocatedPoint,
  type MemoryChange,
  maxChangedFiles,
  newestFirst,
  rankPoints,
} from './session-brief.ts';

/** Limit of commits that are read. */
const maxLog = 50;

/** All records that can be read, and those that need attention. */
interface RecordsOfBrief {
  readonly records: readonly TypedRecord[];
  readonly damaged: readonly DamagedRecord[];
}

/**
 * The memory of a project as the source of a brief: listings of the records, the history and, for a
 * prompt, the search index.
 */
export class ContextSource implements BriefSource {
  readonly #context: Context;
  readonly #types: readonly AnyRecordType[];
  #records: Promise<RecordsOfBrief> | undefined;

  constructor(context: Context, types: readonly AnyRecordType[]) {
    this.#context = context;
    this.#types = types;
  }

  get agent(): string | undefined {
    return this.#context.session.agent;
  }

  async damaged() {
    return (await this.listing()).damaged;
  }

  conflicts() {
    return this.#context.project.conflicts();
  }

  async points(relevance: BranchRelevance) {
    const { records } = await this.listing();
    return rankPoints(records.flatMap(pointsOf).sort(newestFirst), relevance);
  }

  doubts(paths: readonly string[]) {
    return this.#context.store.doubts(paths);
  }

  dated<T extends Pick<LocatedPoint, 'path' | 'section'>>(points: readonly T[]) {
    return this.#context.store.dated(points);
  }

  /** All records, and those that need attention. */
  listing(): Promise<RecordsOfBrief> {
    this.#records ??= this.#read();
    return this.#records;
  }

  async #read(): Promise<RecordsOfBrief> {
    const records: TypedRecord[] = [];
    const damaged: DamagedRecord[] = [];
    for (const type of this.#types) {
      const listing = await this.#context.store.list<object>(type);
      for (const record of listing.records) records.push({ type, ...record });
      damaged.push(...needingAttention(listing));
    }
    return { records, damaged };
  }

  /** The records that need attention; it reads no others. */
  async damage(): Promise<readonly DamagedRecord[]> {
    return needingAttention(await this.#context.store.states.damage(this.#types));
  }

  async branch() {
    const { project } = this.#context;
    const [work, { branch }] = await Promise.all([project.work(maxChangedFiles), project.head()]);
    return { name: branch, work };
  }

  async claims() {
    return [...(await this.#context.claims.list()).values()];
  }

  async syncProblem() {
    if (!(await this.syncs())) return undefined;
    return (await readSyncState(this.#context.store.local)).problem;
  }

  /** Whether the memory is exchanged with the remote by itself. */
  async syncs(): Promise<boolean> {
    return (await this.#context.project.site()).syncs;
  }

  /** Whether the settings cannot be used, so that nothing is written. */
  async isStopped(): Promise<boolean> {
    return (await this.#context.project.site()).isStopped;
  }

  async lastCheck() {
    const { project, store } = this.#context;
    return readLastCheck(store.local, (await project.head()).oid);
  }

  async foreign() {
    return foreignLines(await this.#context.memories.records());
  }

  /** The refs on which the lines about memories of others depend; see `Memories`. */
  foreignRefs() {
    return this.#context.memories.refs();
  }

  /** The history, newest first; empty where there is none or it cannot be read. */
  async changes(limit = maxLog): Promise<readonly MemoryChange[]> {
    try {
      const request = { revision: 'HEAD', limit: Math.min(limit, maxLog), skip: 0 };
      return (await this.#context.history.log(request)).entries.map(toChange);
    } catch (error) {
      if (error instanceof MemoryError && error.code !== 'cancelled') return [];
      throw error;
    }
  }

  tools(): Promise<ReadonlySet<string>> {
    return this.#context.toolNames();
  }

  /** @param sure the least certainty, for measurements of other ones. */
  async about(query: string, sure = 1): Promise<Generator<BriefLine>> {
    const { hits } = await this.#context.store.search({ query, types: this.#types, sure });
    return promptLines(hits.map((hit) => ({ ...hit, id: hit.path })));
  }
}

/** The statements of a record. */
export function pointsOf({ type, path, value }: TypedRecord): LocatedPoint[] {
  return (type.points?.(value) ?? []).map((point: BriefPoint) => ({ ...point, path }));
}

function needingAttention({
  damaged,
  copies = [],
}: Pick<Listing<object>, 'damaged' | 'copies'>): DamagedRecord[] {
  const found = damaged.map(({ path, error }) => {
    const { twin } = error.data;
    return { path, code: error.code, ...(typeof twin === 'string' && { twin }) };
  });
  return [...found, ...copies.map((copy) => ({ code: 'conflict' as const, ...copy }))];
}

function toChange({ commit, changes }: LogEntry): MemoryChange {
  const { oid, at, subject, author, agent } = commit;
  const [first, ...others] = changes;
  return { oid, at, subject, author, agent, path: first?.path ?? '', others: others.length };
}
