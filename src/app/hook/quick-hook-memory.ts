import { dayOf } from '../../core/declarations/context.ts';
import type { HookMoment } from '../../core/declarations/hook-moment.ts';
import { readLastCheck } from '../../core/memory/last-check.ts';
import type { RecordDoubts } from '../../core/memory/store.ts';
import { isWithin, noSyncState, readSyncState } from '../../core/memory/sync-state.ts';
import type { HookState } from '../../store/session/hook-state.ts';
import { QuickMemory } from '../../store/session/quick-memory.ts';
import type { KeyedPassage } from '../../toolsets/brief/keyed-passage.ts';
import type { Brief, BriefLine } from '../../toolsets/brief/layout.ts';
import { type PromptHit, promptLines } from '../../toolsets/brief/prompt-match.ts';
import {
  type BriefRequest,
  type BriefSource,
  composeBrief,
  defaultBudget,
  maxChangedFiles,
} from '../../toolsets/brief/session-brief.ts';
import { BriefDigest } from './brief-digest.ts';
import { doubtsIn } from './digest-record.ts';
import type { Dated, HookMemory } from './hook-memory.ts';
import { sectionWith } from './record-dates.ts';

/** A brief needs no exchange with the remote this long after the last one; servers exchange every minute. */
const maxAge = 90_000;

/** A memory whose digest is valid: it answers without reading a record, or that it does not know. */
export class QuickHookMemory implements HookMemory<'unknown'> {
  readonly now = new Date();
  readonly root: string;
  readonly state: HookState;
  readonly #memory: QuickMemory;
  readonly #digest: BriefDigest;
  readonly #agent: string;
  readonly #fetches: boolean;

  constructor(memory: QuickMemory, digest: BriefDigest, agent: string, fetches: boolean) {
    this.root = memory.root;
    this.state = memory.hooks;
    this.#memory = memory;
    this.#digest = digest;
    this.#agent = agent;
    this.#fetches = fetches;
  }

  /**
   * Opens the memory of a project; undefined if its digest is missing or outdated.
   *
   * @param path of the memory folder.
   * @param fetches whether the whole program first gets what others have pushed, if that is long ago.
   * @param isForAction whether an outdated digest is enough: an action does not wait for new records.
   */
  static open(
    path: string,
    agent: string,
    fetches = true,
    isForAction = false,
  ): QuickHookMemory | undefined {
    const memory = QuickMemory.at(path);
    const digest = memory && (isForAction ? BriefDigest.readAny(memory) : BriefDigest.read(memory));
    return digest && new QuickHookMemory(memory, digest, agent, fetches);
  }

  async isInitialized(): Promise<boolean> {
    return true;
  }

  async head(): Promise<string> {
    return this.#memory.head().oid ?? '';
  }

  async lastChange(): Promise<string> {
    return this.#digest.facts.lastChange;
  }

  async tools(): Promise<ReadonlySet<string>> {
    return new Set(this.#digest.facts.tools.flatMap(([, names]) => names));
  }

  async hasCommitsSince(earlier: string): Promise<boolean> {
    return this.#memory.hasCommitsSince(earlier);
  }

  async edited(limit: number): Promise<number> {
    return this.#memory.work(limit).edited.length;
  }

  /** @returns `'unknown'` if the digest is outdated or does not say everything. */
  async brief(request: BriefRequest = { budget: defaultBudget }): Promise<Brief | 'unknown'> {
    if (!this.#digest.isCurrent()) return 'unknown';
    const { changes, damaged, foreign, foreignRefs, isStopped, syncs } = this.#digest.facts;
    if (foreignRefs.some(([ref, oid]) => this.#memory.refValue(ref) !== oid)) return 'unknown';
    const { tried, problem } = syncs ? await readSyncState(this.#memory.local) : noSyncState;
    const waits = syncs && this.#fetches && !request.onlyPrompt;
    if (waits && !isWithin(tried, this.now, maxAge)) return 'unknown';
    const name = this.#memory.head().ref?.replace(/^refs\/heads\//, '');
    const source: BriefSource<'unknown'> = {
      agent: this.#agent,
      damaged: async () => damaged,
      isStopped: async () => isStopped,
      lastCheck: async () => readLastCheck(this.#memory.local, this.#memory.head().oid),
      conflicts: async () => this.#memory.conflicts(),
      points: async (relevance) => this.#digest.points(relevance),
      // The digest has stored them with the statements.
      dated: async (points) => points,
      doubts: async (paths) => this.#doubts(paths),
      branch: async () => ({ name, work: this.#memory.work(maxChangedFiles) }),
      claims: async () => this.#memory.claims(this.now),
      syncProblem: async () => problem,
      foreign: async () => foreign,
      changes: async () => changes,
      tools: () => this.tools(),
      about: async (query) => this.#about(query),
    };
    return composeBrief(source, request);
  }

  async dated<T extends KeyedPassage>(passages: readonly T[]): Promise<readonly Dated<T>[]> {
    return passages.map((passage) => {
      const { path, entry } = passage;
      const text = entry === undefined ? undefined : this.#digest.textOf(path);
      const section = text && sectionWith(text, entry ?? '');
      const isKnown = entry === undefined || section !== undefined;
      return { ...passage, changed: isKnown ? this.#digest.changeOf(path, section) : undefined };
    });
  }

  async passages(
    keys: readonly string[],
    isKnown: (passage: KeyedPassage) => boolean,
    limit: number,
  ): Promise<readonly KeyedPassage[] | 'unknown'> {
    return this.#digest.firstPassages(keys, isKnown, limit) ?? 'unknown';
  }

  async doubts(paths: readonly string[]): Promise<ReadonlyMap<string, RecordDoubts> | 'unknown'> {
    return this.#doubts(paths);
  }

  async changedSince(earlier: string, limit: number): Promise<readonly string[]> {
    return this.#memory.changedSince(earlier, limit);
  }

  async lastChangeOf(path: string): Promise<string | undefined> {
    return this.#memory.lastChangeOf(path);
  }

  async speaksAt(moment: HookMoment): Promise<boolean> {
    return this.#memory.speaksAt(moment);
  }

  /** Returns `'unknown'` if the code has changed. */
  #doubts(paths: readonly string[]): Map<string, RecordDoubts> | 'unknown' {
    const known = new Map(this.#digest.facts.doubts);
    const today = dayOf(this.now);
    const found = new Map<string, RecordDoubts>();
    for (const path of paths) {
      const doubts = known.get(path) ?? doubtsIn(this.#digest.noteOf(path));
      if (!doubts || !this.#memory.isCertain(doubts, today)) return 'unknown';
      found.set(path, doubts);
    }
    return found;
  }

  async recordsCommits(): Promise<boolean> {
    return this.#memory.recordsCommits();
  }

  async recordCommits(): Promise<'unknown'> {
    return 'unknown';
  }

  async #about(query: string): Promise<Generator<BriefLine> | 'unknown'> {
    const index = await this.#digest.search();
    return index ? promptLines(this.#dated(index.search(query))) : 'unknown';
  }

  *#dated(hits: Iterable<PromptHit>): Generator<PromptHit> {
    for (const hit of hits) {
      const changed = this.#digest.changeOf(hit.id, hit.section);
      yield changed ? { ...hit, changed } : hit;
    }
  }
}
