import { QuickMemory } from '../../store/quick-memory.ts';
import type { Brief, BriefLine } from '../../toolsets/brief/layout.ts';
import { maxHits, promptLines } from '../../toolsets/brief/prompt-match.ts';
import {
  type BriefRequest,
  composeBrief,
  defaultBudget,
  maxChangedFiles,
} from '../../toolsets/brief/session-brief.ts';
import { type BriefDigest, readDigest } from './brief-digest.ts';
import type { HookMemory } from './hook-memory.ts';

/** A memory whose digest is valid: it answers without reading a record. */
export class QuickHookMemory implements HookMemory {
  readonly now = new Date();
  readonly local: HookMemory['local'];
  readonly #memory: QuickMemory;
  readonly #digest: BriefDigest;
  readonly #agent: string;

  private constructor(memory: QuickMemory, digest: BriefDigest, agent: string) {
    this.local = memory.local;
    this.#memory = memory;
    this.#digest = digest;
    this.#agent = agent;
  }

  /**
   * Opens the memory of a project; undefined if its digest is missing or outdated.
   *
   * @param path of the memory folder.
   */
  static open(path: string, build: string, agent: string): QuickHookMemory | undefined {
    const memory = QuickMemory.open(path);
    const digest = memory && readDigest(memory, build);
    return digest && new QuickHookMemory(memory, digest, agent);
  }

  async isInitialized(): Promise<boolean> {
    return true;
  }

  async head(): Promise<string> {
    return this.#memory.head().oid ?? '';
  }

  async lastChange(): Promise<string> {
    return this.#digest.lastChange;
  }

  async hasCommitsSince(earlier: string): Promise<boolean> {
    return this.#memory.hasCommitsSince(earlier);
  }

  async edited(limit: number): Promise<number> {
    return this.#memory.work(limit).edited.length;
  }

  async brief(request: BriefRequest = { budget: defaultBudget }): Promise<Brief> {
    const { changes, damaged, points, tools } = this.#digest;
    const name = this.#memory.head().ref?.replace(/^refs\/heads\//, '');
    const source = {
      agent: this.#agent,
      records: async () => ({ points: points(), damaged }),
      branch: async () => ({ name, work: this.#memory.work(maxChangedFiles) }),
      changes: async () => changes,
      tools: async () => new Set(tools),
      about: async (query: string) => this.#about(query),
    };
    return composeBrief(source, request);
  }

  async #about(query: string): Promise<readonly BriefLine[]> {
    const index = await this.#digest.search();
    if (!index) throw new Error('A search needs the whole program.');
    const { hits } = index.search(query, { limit: maxHits });
    const found = hits.map(({ id, ...hit }) => {
      return { ...hit, path: id, title: index.fieldsOf(id)?.title ?? '' };
    });
    return promptLines(found, query);
  }
}
