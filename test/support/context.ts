import { randomBytes, randomUUID } from 'node:crypto';
import type {
  BranchWork,
  Context,
  Drift,
  HeadInfo,
  LayoutInfo,
  Mode,
  Modes,
  Project,
  ProjectInfo,
  ProjectSite,
} from '../../src/core/declarations/context.ts';
import type { Summarizer } from '../../src/core/declarations/summarizer.ts';
import type { Toolset } from '../../src/core/declarations/toolset.ts';
import { parseGiven } from '../../src/core/evidence/annotations.ts';
import type { Claims } from '../../src/core/memory/claims.ts';
import type { History } from '../../src/core/memory/history.ts';
import type { Memories } from '../../src/core/memory/pinned-memories.ts';
import { Session } from '../../src/core/memory/session.ts';
import type { Reviews } from '../../src/core/memory/waiting-reviews.ts';
import { invalid, MemoryError, toMemoryError } from '../../src/core/values/error.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { MemoryStore } from './memory-store.ts';

/** A context of plain maps, for toolset tests without a repository. */
export class TestContext implements Context {
  readonly store: MemoryStore;
  readonly homeStore: MemoryStore;
  session = new Session(() => '01TEST');
  readonly project = new TestProject();
  readonly modes = new TestModes();
  readonly history = noHistory;
  readonly claims = noClaims;
  readonly memories = noMemories;
  readonly reviews = noReviews;
  summarizer: Summarizer | undefined;
  readonly signal = new AbortController().signal;
  readonly messages: string[] = [];
  readonly notes: string[] = [];
  readonly steps: [done: number, total: number, message: string][] = [];
  time = Date.UTC(2026, 0, 1);

  constructor(toolset: Toolset) {
    this.store = new MemoryStore(toolset.records);
    this.homeStore = new MemoryStore(toolset.records);
  }

  offered: ReadonlySet<string> = new Set(['search_memory']);

  async toolNames(): Promise<ReadonlySet<string>> {
    return this.offered;
  }
  async home(): Promise<MemoryStore> {
    return this.homeStore;
  }
  async catchUp(): Promise<void> {}
  async useProject(path: string): Promise<ProjectInfo> {
    this.project.root = path;
    return this.project.info();
  }
  now(): Date {
    this.time += 1;
    return new Date(this.time);
  }
  uuid(): string {
    return randomUUID();
  }
  shortId(): string {
    return randomBytes(9).toString('base64url');
  }
  progress(done: number, total: number, message: string): void {
    this.steps.push([done, total, message]);
  }
  note(text: string): void {
    this.notes.push(text);
  }
  log(level: string, message: string): void {
    this.messages.push(`${level}: ${message}`);
  }
}

export class TestProject implements Project {
  root = '/project';
  id: string | undefined;
  headInfo: HeadInfo = { branch: 'main', oid: '1'.repeat(40) };
  files = new Map<string, string>();
  /** Answers of `lastChange` and `drift`. */
  change: { readonly oid: string; readonly at: string } | undefined;
  moved: Drift = { commits: 0, files: [], truncated: false };
  branchWork: BranchWork = { base: undefined, committed: [], edited: [] };

  async info(): Promise<ProjectInfo> {
    const folder = `${this.root}/.memory-bank`;
    return {
      root: this.root,
      folder,
      initialized: this.id !== undefined,
      projectId: this.id,
      syncs: false,
    };
  }
  async site(): Promise<ProjectSite> {
    return { ...(await this.info()), isStopped: this.isStopped };
  }
  isStopped = false;
  async head(): Promise<HeadInfo> {
    return this.headInfo;
  }
  async proposals(): Promise<never[]> {
    return [];
  }
  async initialize(): Promise<string> {
    this.id ??= randomUUID();
    return this.id;
  }
  unmerged: readonly string[] = [];
  async conflicts(): Promise<readonly string[]> {
    return this.unmerged;
  }
  async lacking(): Promise<readonly string[]> {
    return this.id === undefined ? ['config.yaml', '.gitattributes'] : [];
  }
  async readFile(path: string): Promise<string | undefined> {
    return this.files.get(path);
  }
  async cite(places: readonly string[]) {
    return places.map((place, index) => {
      const given = parseGiven(place);
      if (given && this.files.has(given.path)) return given;
      throw invalid(['evidence', index], `the project has no file ${place}`);
    });
  }
  async lastChange() {
    return this.change;
  }
  async drift(): Promise<Drift> {
    return this.moved;
  }
  async commitsSince() {
    return [];
  }
  async speaksAt(): Promise<boolean> {
    return true;
  }
  async layout(): Promise<LayoutInfo> {
    return { layout: 'log', decisions: 0, progress: 0, files: [] };
  }

  async changeLayout(): Promise<undefined> {
    return undefined;
  }

  async recordsCommits(): Promise<boolean> {
    return false;
  }
  async work(): Promise<BranchWork> {
    return this.branchWork;
  }
}

class TestModes implements Modes {
  modes: Mode[] = [];
  name: string | null = null;
  updating = false;

  async list() {
    return { modes: this.modes, skipped: [] };
  }
  async listFrom() {
    return this.list();
  }
  async current(): Promise<Mode | undefined> {
    return this.modes.find((mode) => mode.name === this.name);
  }
  async switch(name: string | null): Promise<Mode | undefined> {
    if (name !== null && !this.modes.some((mode) => mode.name === name)) {
      throw new MemoryError('not_found', `There is no mode "${name}".`, { data: { mode: name } });
    }
    this.name = name;
    return this.current();
  }
  setUpdating(updating: boolean): void {
    this.updating = updating;
  }
  async isUmbCommand(message: string): Promise<boolean> {
    return /^(update memory bank|umb)$/i.test(message);
  }
  async triggeredBy(): Promise<undefined> {
    return undefined;
  }
}

/** Fails every call, because maps have no history. */
const noHistory = new Proxy<History>({} as History, {
  get() {
    throw new Error('there is no history here');
  },
});

/** Nobody claims records of maps. */
const noClaims: Claims = {
  list: async () => new Map(),
  claim: async () => {
    throw new Error('there are no claims here');
  },
  release: async () => false,
};

/** Changes of maps wait for no review. */
const noReviews: Reviews = {
  list: async () => [],
  tips: async () => new Map(),
  accepted: async () => new Set(),
  accept: async (name) => noReview(name),
  acceptFrom: async (name) => noReview(name),
  withdraw: async (base) => noReview(base),
  confirm: async (address) => noReview(address),
  confirmable: async () => [],
  person: async () => 'Ada Lovelace <ada@example.org>',
  isConfirmed: async () => false,
  drop: async (name) => noReview(name),
};

function noReview(name: string): never {
  throw new MemoryError('not_found', `There is no review ${name}.`);
}

/** Maps pin no memories of others. */
const noMemories: Memories = {
  isForeign: async () => false,
  list: async () => [],
  read: async (path) => {
    throw new MemoryError('not_found', `There is no ${path} here.`);
  },
  records: async () => [],
  search: async () => [],
  check: async () => [],
  refs: async () => [],
  fetch: async () => [],
  forget: async () => undefined,
  preview: async () => {
    throw new Error('there are no memories here');
  },
  pin: async () => undefined,
};

/** Calls a tool as the app does, and returns the body of its answer. */
export async function callTool(
  toolset: Toolset,
  context: Context,
  name: string,
  args: unknown = {},
): Promise<{ body: JsonObject; isError: boolean; note?: string }> {
  const tool = toolset.tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  try {
    await toolset.before?.(context, tool);
    return { body: toolset.success(tool, await tool.call(context, args)), isError: false };
  } catch (thrown) {
    const error = toMemoryError(thrown);
    if (error.code === 'internal') throw thrown;
    return { ...toolset.failure(tool, error), isError: true };
  }
}
