import type { Context } from '../../src/core/declarations/context.ts';
import type { Toolset } from '../../src/core/declarations/toolset.ts';
import type {
  Binding,
  BoundWorkspace,
  Workspace,
  WorkspaceOptions,
} from '../../src/core/declarations/workspace.ts';
import type { Session } from '../../src/core/memory/session.ts';
import type { Store } from '../../src/core/memory/store.ts';
import { TestContext } from './context.ts';
import { MemoryStore } from './memory-store.ts';

/** A workspace of plain maps, for tests of the app and the transports. */
export class MemoryWorkspace implements Workspace {
  readonly root: string;
  readonly syncs = false;
  readonly review = undefined;
  readonly lacksFormat = false;
  readonly options: WorkspaceOptions;
  readonly store: MemoryStore;
  /** Branch of the commits; undefined for a detached HEAD. */
  branch: string | undefined = 'main';
  closed = false;
  warmed = false;
  readonly listeners = new Set<(paths: readonly string[]) => void>();
  readonly #toolset: Toolset;
  readonly #contexts = new WeakMap<Session, TestContext>();

  constructor(options: WorkspaceOptions, toolset: Toolset) {
    this.root = options.root;
    this.options = options;
    this.store = new MemoryStore(options.records);
    this.#toolset = toolset;
  }

  bind(binding: Binding): BoundWorkspace {
    const context = this.#contexts.get(binding.session) ?? new TestContext(this.#toolset);
    this.#contexts.set(binding.session, context);
    context.project.root = this.root;
    const change: Store['change'] = async (why, edit) => {
      const before = this.store.commits.length;
      const result = await this.store.change(why, edit);
      const commit = this.store.commits[before];
      if (commit) {
        const oid = String(before + 1).padStart(40, '0');
        binding.onCommit({ oid, branch: this.branch });
        this.touch(commit.paths);
      }
      return result;
    };
    const store: Store = {
      local: this.store.local,
      get: (type, key) => this.store.get(type, key),
      used: () => this.store.used(),
      list: (type, options) => this.store.list(type, options),
      keys: (type) => this.store.keys(type),
      search: (request) => this.store.search(request),
      states: this.store.states,
      dated: (places) => this.store.dated(places),
      searchFiles: () => this.store.searchFiles(),
      decisions: () => this.store.decisions(),
      similar: () => this.store.similar(),
      alike: () => this.store.alike(),
      cautions: () => this.store.cautions(),
      doubts: () => this.store.doubts(),
      change,
    };
    const { project, modes, history, claims, memories, reviews }: Context = context;
    return { store, project, modes, history, claims, memories, reviews };
  }

  /** Notifies the listeners of changed files, as after an edit by hand. */
  touch(paths: readonly string[]): void {
    for (const listener of this.listeners) listener(paths);
  }

  watch(listener: (paths: readonly string[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async warm(): Promise<void> {
    this.warmed = true;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}
