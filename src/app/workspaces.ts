import { join } from 'node:path';
import type { Toolset } from '../core/toolset.ts';
import type { OpenWorkspace, Workspace, WorkspaceOptions } from '../core/workspace.ts';
import type { AutoSync } from './auto-sync.ts';
import { now } from './clock-and-ids.ts';
import { memoryFolderName } from './root.ts';

/** The parts of the app. */
export interface AppParts {
  toolsets(): Promise<readonly Toolset[]>;
  readonly openWorkspace: OpenWorkspace;
}

/** The parts of the program, loaded on demand: a client waits for the first answer. */
export const program: AppParts = {
  toolsets: async () => (await import('../toolsets/index.ts')).toolsets,
  openWorkspace: async (options) =>
    (await import('../store/open-workspace.ts')).openWorkspace(options),
};

/** The settings of all memories, and the memory folder of the user. */
export interface WorkspacesOptions
  extends Pick<WorkspaceOptions, 'durability' | 'warn' | 'embedder'> {
  readonly homeFolder: string;
}

/** The open memories: one for each root, shared by all sessions, and the one of the user. */
export class Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #parts: AppParts;
  readonly #open = new Map<string, Promise<Workspace>>();
  readonly #syncs = new Map<Workspace, AutoSync>();

  constructor(options: WorkspacesOptions, parts: AppParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Opens the memory of a project. */
  project(root: string): Promise<Workspace> {
    return this.#get({ root, folder: join(root, memoryFolderName), repository: 'enclosing' });
  }

  /** Opens the memory of the user. */
  home(): Promise<Workspace> {
    const root = this.#options.homeFolder;
    return this.#get({ root, folder: root, repository: 'own' });
  }

  /** Returns the automatic exchange of a workspace; undefined if its configuration does not ask for it. */
  async autoSync(workspace: Workspace): Promise<AutoSync | undefined> {
    if (!workspace.syncs) return undefined;
    const { AutoSync } = await import('./auto-sync.ts');
    const known = this.#syncs.get(workspace);
    if (known) return known;
    const log = (message: string) => this.#options.warn(`Automatic sync: ${message}`);
    const sync = new AutoSync(workspace, log);
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

  #get(which: Pick<WorkspaceOptions, 'root' | 'folder' | 'repository'>): Promise<Workspace> {
    const known = this.#open.get(which.folder);
    if (known) return known;
    const { durability, warn, embedder } = this.#options;
    const opening = this.#parts.toolsets().then((all) => {
      const records = all.flatMap((toolset) => toolset.records);
      return this.#parts.openWorkspace({ ...which, records, durability, now, warn, embedder });
    });
    this.#open.set(which.folder, opening);
    // The next call tries again.
    opening.catch(() => this.#open.delete(which.folder));
    return opening;
  }
}
