import { join } from 'node:path';
import { counted } from '../../core/answers/painter.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import {
  type BoundWorkspace,
  memoryFolderName,
  type OpenWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from '../../core/declarations/workspace.ts';
import { toMemoryError } from '../../core/values/error.ts';
import type { AutoSync } from './auto-sync.ts';
import { now, ownSession } from './clock-and-ids.ts';

/** The parts of the app. */
export interface AppParts {
  toolsets(): Promise<readonly Toolset[]>;
  readonly openWorkspace: OpenWorkspace;
  /** Returns the finder of the memories of projects. */
  findMemory(options: Pick<WorkspaceOptions, 'durability' | 'warn' | 'now'>): Promise<MemoryFinder>;
}

/** Finds the folders of memories. */
export interface MemoryFinder {
  /** Whether the memory of a project, or a review of it, is still in a folder. */
  isCurrent(root: string, folder: string): boolean;
  /** Returns the memory folder of a project, and the branches of the memory that are to be merged. */
  find(root: string): Promise<{ readonly folder: string; readonly finished: readonly string[] }>;
  /**
   * Returns the memory folder of a review, and the commit of the memory that is to be merged into it.
   *
   * @param create whether to create a missing one.
   * @returns undefined if there is none.
   */
  findReview(
    memory: string,
    root: string,
    name: string,
    create: boolean,
  ): Promise<{ readonly folder: string; readonly base: string | undefined } | undefined>;
}

/** The parts of the program, loaded on demand: a client waits for the first answer. */
export const program: AppParts = {
  toolsets: async () => (await import('../../toolsets/index.ts')).toolsets,
  openWorkspace: async (options) =>
    (await import('../../store/session/open-workspace.ts')).openWorkspace(options),
  findMemory: async (options) =>
    (await import('../../store/session/open-workspace.ts')).findMemory(options),
};

/** The settings of all memories, and the memory folder of the user. */
export interface WorkspacesOptions
  extends Pick<WorkspaceOptions, 'durability' | 'warn' | 'embedder'> {
  readonly homeFolder: string;
  /** The pause between automatic exchanges without changes, in milliseconds; 0 for no such exchanges. */
  readonly syncInterval?: number | undefined;
}

/** The open memories: one for each root, shared by all sessions, and the one of the user. */
export class Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #parts: AppParts;
  readonly #open = new Map<string, Promise<Workspace>>();
  readonly #syncs = new Map<Workspace, AutoSync>();
  #places: Promise<MemoryFinder> | undefined;

  constructor(options: WorkspacesOptions, parts: AppParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Opens the memory of a project, which can be another one after a checkout. */
  async project(root: string): Promise<Workspace> {
    const finder = await this.#finder();
    const { folder, finished } = await finder.find(root);
    const workspace = await this.#get(placed(finder, root, folder));
    for (const branch of finished) await this.#merge(workspace, branch, branch);
    return workspace;
  }

  /** Opens a memory that is on the branches of its project, and reads what its first call needs. */
  async warm(root: string): Promise<void> {
    const which = placed(await this.#finder(), root, join(root, memoryFolderName));
    await (await this.#get(which)).warm();
  }

  /**
   * Opens the memory of a project with the changes of a review.
   *
   * @param create whether to begin a review that does not exist.
   * @returns undefined if there is no such review.
   */
  async review(root: string, name: string, create: boolean): Promise<Workspace | undefined> {
    const finder = await this.#finder();
    const { folder: memory } = await finder.find(root);
    if (create) await this.#raiseFormat(await this.#get(placed(finder, root, memory)));
    const found = await finder.findReview(memory, root, name, create);
    if (!found) return undefined;
    const { folder, base } = found;
    const workspace = await this.#get(placed(finder, root, folder));
    if (base !== undefined) await this.#merge(workspace, base, `the memory, for ${name},`);
    return workspace;
  }

  #finder(): Promise<MemoryFinder> {
    this.#places ??= this.#parts.findMemory({ ...this.#options, now });
    return this.#places;
  }

  /**
   * Merges another line of a memory into a workspace; a conflict is left to a person.
   *
   * @param named the other line, in messages.
   */
  async #merge(workspace: Workspace, revision: string, named: string): Promise<void> {
    const { warn } = this.#options;
    const { history } = asProgram(workspace, 'merge');
    try {
      const { isNew, changes } = await history.merge(revision, { ours: [], theirs: [] });
      if (isNew && named === revision) {
        warn(`${named} was merged, as its code was: ${counted(changes.length, 'record')}.`);
      }
    } catch (error) {
      warn(`${named} was not merged: ${toMemoryError(error).text}`);
    }
  }

  /**
   * Raises the format of settings that restrict, so that older programs do not write past them. If that
   * fails, the next change of the memory does it.
   */
  async #raiseFormat(workspace: Workspace): Promise<void> {
    if (!workspace.lacksFormat) return;
    try {
      await asProgram(workspace, 'init').project.initialize();
    } catch (error) {
      this.#options.warn(toMemoryError(error).text);
    }
  }

  /** Opens the memory of the user. */
  home(): Promise<Workspace> {
    const root = this.#options.homeFolder;
    return this.#get({ root, folder: root, repository: 'own' });
  }

  /** Returns the automatic exchange of a workspace; undefined if its configuration does not ask for it. */
  async autoSync(workspace: Workspace): Promise<AutoSync | undefined> {
    if (!workspace.syncs) return undefined;
    const { AutoSync, usualPace } = await import('./auto-sync.ts');
    const known = this.#syncs.get(workspace);
    if (known) return known;
    const { interval } = usualPace;
    const pace = { ...usualPace, interval: this.#options.syncInterval ?? interval };
    const log = (message: string) => this.#options.warn(`Automatic sync: ${message}`);
    const sync = new AutoSync(workspace, log, pace);
    this.#syncs.set(workspace, sync);
    return sync;
  }

  /** Waits for running changes and closes everything. */
  async close(): Promise<void> {
    await Promise.all([...this.#syncs.values()].map((sync) => sync.close()));
    for (const result of await Promise.allSettled(this.#open.values())) {
      if (result.status === 'fulfilled') await result.value.close();
    }
  }

  #get(which: WhichMemory): Promise<Workspace> {
    // Several projects can share a memory, each with its own code.
    const key = `${which.root}\0${which.folder}`;
    const known = this.#open.get(key);
    if (known) return known;
    const { durability, warn, embedder } = this.#options;
    const opening = this.#parts.toolsets().then((all) => {
      const records = all.flatMap((toolset) => toolset.records);
      return this.#parts.openWorkspace({ ...which, records, durability, now, warn, embedder });
    });
    this.#open.set(key, opening);
    // The next call tries again.
    opening.catch(() => this.#open.delete(key));
    return opening;
  }
}

/** The options that name a memory. */
type WhichMemory = Pick<WorkspaceOptions, 'root' | 'folder' | 'repository' | 'isCurrent'>;

/** The memory of a project, which a person can move while it is open. */
function placed(finder: MemoryFinder, root: string, folder: string): WhichMemory {
  const isCurrent = () => finder.isCurrent(root, folder);
  return { root, folder, repository: 'enclosing', isCurrent };
}

/** Binds a workspace to a change that nobody calls for. */
function asProgram(workspace: Workspace, tool: string): BoundWorkspace {
  return workspace.bind({
    session: ownSession(),
    tool,
    signal: new AbortController().signal,
    onCommit: () => undefined,
    progress: () => undefined,
  });
}
