import { isAbsolute, resolve } from 'node:path';
import { sessionKey } from '../core/session.ts';
import type { Binding, BoundWorkspace, Workspace } from '../core/workspace.ts';
import { findRoot, type RootInput, refusePluginFolder, rootAt } from './root.ts';
import type { Workspaces } from './workspaces.ts';

/** The one at the other end of a session. */
export interface SessionClient {
  /** The URIs of its roots; empty when it offers none. */
  roots(): Promise<readonly string[]>;
  /**
   * The folders that it may go to, and all below them, beside the root where its session begins;
   * undefined lets it go anywhere.
   */
  readonly folders?: readonly string[] | undefined;
}

/** What decides where a session begins. */
export interface SessionStart {
  /** What decides the root, beside the roots of the client. */
  readonly place: Omit<RootInput, 'clientRoots'>;
  /** The mode in which each session begins. */
  readonly mode?: string | undefined;
}

/** Told of the paths of changed records. */
export type Listener = (paths: readonly string[]) => void;

/** Where a session keeps its place; the app puts it there when it begins one. */
export const placeKey = sessionKey<SessionPlace>('place', () => {
  throw new Error('The session was not begun by the app.');
});

/** Where a session is, and whose turn it is there. */
export class SessionPlace {
  readonly #beginning: SessionStart;
  readonly #workspaces: Workspaces;
  readonly #client: SessionClient | undefined;
  /** Undefined until a call needs it. */
  #root: string | undefined;
  /** The root that the caller did not choose. */
  #start: string | undefined;
  /** Whether the caller chose the root, so that new roots of the client do not change it. */
  #chosen = false;
  /** Whether the session has been in the mode in which it is to begin. */
  #begun = false;
  /** The end of the call before. */
  #turn: Promise<void> = Promise.resolve();
  #listener: Listener | undefined;
  #watched: { readonly workspace: Workspace; stop(): void } | undefined;

  constructor(beginning: SessionStart, workspaces: Workspaces, client: SessionClient | undefined) {
    this.#beginning = beginning;
    this.#workspaces = workspaces;
    this.#client = client;
  }

  /**
   * Runs the work after what was begun before it, so that a client that does not wait for answers
   * reads its own writes. What is cancelled holds up nobody.
   */
  inTurn<R>(signal: AbortSignal, work: () => Promise<R>): Promise<R> {
    const running = this.#turn.then(work);
    this.#turn = settled(running, signal);
    return running;
  }

  /**
   * The root that the session serves; its memory is not opened.
   *
   * @throws MemoryError `no_project`.
   */
  async root(): Promise<string> {
    if (this.#root === undefined) {
      const clientRoots = async () => (await this.#client?.roots()) ?? [];
      this.#start = (await findRoot({ ...this.#beginning.place, clientRoots })).path;
      this.#root = this.#start;
    }
    return this.#root;
  }

  /**
   * The workspace of the session for one call.
   *
   * @throws MemoryError `no_project`, or what hinders the workspace from being opened.
   */
  async enter(binding: Binding): Promise<BoundWorkspace> {
    const { mode } = this.#beginning;
    const bound = await this.#bind(await this.root(), binding);
    if (mode !== undefined && !this.#begun) await bound.modes.switch(mode);
    this.#begun = true;
    return bound;
  }

  /** Goes to another folder; see `Project.use`. */
  async use(path: string, create: boolean, binding: Binding): Promise<BoundWorkspace> {
    const { cwd, home } = this.#beginning.place;
    const within = this.#client?.folders && [this.#start ?? [], ...this.#client.folders].flat();
    const isFromStart = this.#root === undefined && !isAbsolute(path);
    if (isFromStart) await refusePluginFolder(this.#beginning.place);
    const target = resolve(this.#root ?? cwd, path);
    if (create) (await import('../store/secrets/guard.ts')).checkNewFolder(target);
    const root = await rootAt(target, { home, within }, create);
    const bound = await this.#bind(root, binding);
    this.#root = root;
    this.#chosen = true;
    return bound;
  }

  /** Decides the root again at the next call, where it depends on the roots of the client. */
  rootsChanged(): void {
    if (!this.#chosen) this.#root = undefined;
  }

  /** Tells the listener from now on, wherever the session goes; undefined ends it. */
  watch(listener: Listener | undefined): void {
    this.#listener = listener;
    if (listener) return;
    this.#watched?.stop();
    this.#watched = undefined;
  }

  async #bind(root: string, binding: Binding): Promise<BoundWorkspace> {
    const workspace = await this.#workspaces.project(root);
    this.#follow(workspace);
    return workspace.bind(binding);
  }

  /** Keeps the listener at the workspace in which the session is. */
  #follow(workspace: Workspace): void {
    if (!this.#listener || this.#watched?.workspace === workspace) return;
    const moved = this.#watched !== undefined;
    this.#watched?.stop();
    this.#watched = { workspace, stop: workspace.watch((paths) => this.#listener?.(paths)) };
    if (moved) this.#listener([]);
  }
}

/** Resolves when the work is done, well or badly, or its caller gives up. */
function settled(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      // One signal may be that of many calls.
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    work.then(end, end);
  });
}
