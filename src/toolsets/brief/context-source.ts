import type { Context } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';
import type { LogEntry } from '../../core/history.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import { readSyncState } from '../../core/sync-state.ts';
import type { BranchRelevance } from './branch-relevance.ts';
import type { BriefLine } from './layout.ts';
import { bestFirst, maxCompared, maxHits, promptLines } from './prompt-match.ts';
import {
  type BriefSource,
  type DamagedRecord,
  foreignLines,
  type LocatedPoint,
  type MemoryChange,
  maxChangedFiles,
  newestFirst,
  rankPoints,
} from './session-brief.ts';

/** Limit of commits that are read. */
const maxLog = 50;

/** The statements of all records, the newest first, and the records that need attention. */
interface Statements {
  readonly points: readonly LocatedPoint[];
  readonly damaged: readonly DamagedRecord[];
}

/**
 * The memory of a project as the source of a brief: listings of the records, the history and, for a
 * prompt, the search index.
 */
export class ContextSource implements BriefSource {
  readonly #context: Context;
  readonly #types: readonly AnyRecordType[];
  #records: Promise<Statements> | undefined;

  constructor(context: Context, types: readonly AnyRecordType[]) {
    this.#context = context;
    this.#types = types;
  }

  get agent(): string | undefined {
    return this.#context.session.agent;
  }

  async damaged() {
    return (await this.records()).damaged;
  }

  conflicts() {
    return this.#context.project.conflicts();
  }

  async points(relevance: BranchRelevance) {
    return rankPoints((await this.records()).points, relevance);
  }

  doubts(paths: readonly string[]) {
    return this.#context.store.doubts(paths);
  }

  /** The statements of all records, the newest first, and the records that cannot be read. */
  records(): Promise<Statements> {
    this.#records ??= this.#read();
    return this.#records;
  }

  async #read(): Promise<Statements> {
    const points: LocatedPoint[] = [];
    const damaged: DamagedRecord[] = [];
    for (const type of this.#types) {
      if (!type.points) continue;
      const listing = await this.#context.store.list<object>(type);
      for (const { path, error } of listing.damaged) {
        const { twin } = error.data;
        damaged.push({ path, code: error.code, ...(typeof twin === 'string' && { twin }) });
      }
      for (const copy of listing.copies ?? []) damaged.push({ code: 'conflict', ...copy });
      for (const { path, value } of listing.records) {
        for (const point of type.points(value)) points.push({ ...point, path });
      }
    }
    return { points: points.sort(newestFirst), damaged };
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
    return (await this.#context.project.info()).syncs;
  }

  async foreign() {
    return foreignLines(await this.#context.memories.records());
  }

  /** The refs on which the lines about memories of others depend; see `Memories`. */
  foreignRefs() {
    return this.#context.memories.refs();
  }

  /** The history, newest first; empty where there is none or it cannot be read. */
  async changes(): Promise<readonly MemoryChange[]> {
    try {
      const request = { revision: 'HEAD', limit: maxLog, skip: 0 };
      return (await this.#context.history.log(request)).entries.map(toChange);
    } catch (error) {
      if (error instanceof MemoryError && error.code !== 'cancelled') return [];
      throw error;
    }
  }

  tools(): Promise<ReadonlySet<string>> {
    return this.#context.toolNames();
  }

  async about(query: string): Promise<Iterable<BriefLine>> {
    const { hits } = await this.#context.store.search({
      query,
      types: this.#types,
      limit: maxHits,
      plainly: maxCompared,
    });
    const found = hits.map(({ type, value, ...hit }) => ({ ...hit, ...type.search(value) }));
    return promptLines(found.sort(bestFirst), query);
  }
}

function toChange({ commit, changes }: LogEntry): MemoryChange {
  const { at, subject, author, agent } = commit;
  const [first, ...others] = changes;
  return { at, subject, author, agent, path: first?.path ?? '', others: others.length };
}
