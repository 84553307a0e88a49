import { isAbsolute, resolve } from 'node:path';
import type { Tool } from '../../core/declarations/tool.ts';
import type {
  Binding,
  BoundWorkspace,
  ReviewRule,
  Workspace,
} from '../../core/declarations/workspace.ts';
import { type Session, sessionKey } from '../../core/memory/session.ts';
import { slug } from '../../core/names/name.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { AutoSync } from './auto-sync.ts';
import { findRoot, type RootInput, refusePluginFolder, remarkOn, rootAt } from './root.ts';
import type { Workspaces } from './workspaces.ts';

/** The client of a session. */
export interface SessionClient {
  /** Returns the URIs of its roots; empty if it has none. */
  roots?(): Promise<readonly string[]>;
  /** The only mode that it may use; undefined for any. */
  readonly onlyMode?: string | undefined;
  /**
   * The folders that it may use, with everything below them, in addition to the root of its
   * session; undefined for any folder.
   */
  readonly folders?: readonly string[] | undefined;
  /**
   * Whether it sends a call that depends on an earlier one only after the answer to that one. Its calls
   * run concurrently.
   */
  readonly waits?: boolean;
  /** Whether it runs on this machine and calls tools by their names, so that it can choose any folder. */
  readonly isLocal?: boolean;
  /** Whether it is an agent, whose changes wait for a review where the memory requires one. */
  readonly isAgent?: boolean;
  /** Whether each of its calls is a session of its own. */
  readonly isOneCall?: boolean;
  /** The review that it reads and changes, instead of the memory itself. */
  readonly review?: string;
  /** Whether its first change begins that review, if there is none. */
  readonly beginsReview?: boolean;
}

/** The settings for the start of a session. */
export interface SessionStart {
  /** The input for the choice of the root, without the roots of the client. */
  readonly place: Omit<RootInput, 'clientRoots'>;
  /** The names of the toolsets to offer; undefined for all of them. */
  readonly enabled?: readonly string[] | undefined;
  /** The mode of each session at its start. */
  readonly mode?: string | undefined;
}

/** Receives the paths of changed records. */
export type Listener = (paths: readonly string[]) => void;

/** The key of the workspace in a session; the app sets it when a session begins. */
export const workspaceKey = sessionKey<SessionWorkspace>('workspace', () => {
  throw new Error('The session was not begun by the app.');
});

/** The workspace of a session, and the queue of its calls. */
export class SessionWorkspace {
  readonly #beginning: SessionStart;
  readonly #workspaces: Workspaces;
  readonly #client: SessionClient | undefined;
  /** Undefined until the first call that needs it. */
  #root: string | undefined;
  /** The root that the program chose. */
  #start: string | undefined;
  /** A sentence for the client about the choice of the root. */
  #remark: string | undefined;
  /** Whether the caller chose the root, so that new roots of the client do not change it. */
  #chosen = false;
  /** Whether the session has entered the mode of its start. */
  #begun = false;
  /** The end of the previous call. */
  #turn: Promise<void> = Promise.resolve();
  /** The automatic exchange of the session's memory; undefined where its settings do not ask for it. */
  #sync: AutoSync | undefined;
  readonly #listeners = new Set<Listener>();
  #watched: { readonly workspace: Workspace; stop(): void } | undefined;

  constructor(beginning: SessionStart, workspaces: Workspaces, client: SessionClient | undefined) {
    this.#beginning = beginning;
    this.#workspaces = workspaces;
    this.#client = client;
  }

  /**
   * Runs the work after all earlier work, so that a client that does not wait for answers
   * reads its own writes. Work that is cancelled, or waits for another program, does not delay other work.
   *
   * @param work gets the function to call when it waits for another program.
   */
  inTurn<R>(signal: AbortSignal, work: (onWait: () => void) => Promise<R>): Promise<R> {
    if (this.#client?.waits) return work(() => undefined);
    let onWait = () => {};
    const waits = new Promise<void>((resolve) => {
      onWait = resolve;
    });
    const running = this.#turn.then(() => work(onWait));
    this.#turn = Promise.race([settled(running, signal), waits]);
    return running;
  }

  /**
   * Returns the root that the session serves, without opening its memory.
   *
   * @param clientRoots returns the URIs of the client's roots; called only if they decide.
   * @throws MemoryError `no_project`, or the error of `clientRoots`.
   */
  async root(clientRoots = async () => (await this.#client?.roots?.()) ?? []): Promise<string> {
    if (this.#root === undefined) {
      const tool = this.#switchTool();
      const root = await findRoot({ ...this.#beginning.place, tool, clientRoots });
      this.#remark = tool === undefined ? undefined : remarkOn(root, tool);
      this.#start = root.path;
      this.#root = this.#start;
    }
    return this.#root;
  }

  /**
   * Returns the workspace of the session for one call.
   *
   * @param effect of the call.
   * @throws MemoryError `no_project`, or the error of opening the workspace.
   */
  async enter(binding: Binding, effect: Tool['effect']): Promise<BoundWorkspace> {
    return this.#begin(await this.#bind(await this.root(), binding, effect));
  }

  /** Switches to another folder; see `Context.useProject`. */
  async use(
    path: string,
    create: boolean,
    binding: Binding,
    effect: Tool['effect'],
  ): Promise<BoundWorkspace> {
    const { cwd, home } = this.#beginning.place;
    const within = this.#client?.folders && [this.#start ?? [], ...this.#client.folders].flat();
    const isFromStart = this.#root === undefined && !isAbsolute(path);
    if (isFromStart) await refusePluginFolder(this.#beginning.place);
    const target = resolve(this.#root ?? cwd, path);
    if (create) (await import('../../store/secrets/guard.ts')).checkNewFolder(target);
    const root = await rootAt(target, { home, within }, create);
    const bound = await this.#bind(root, binding, effect);
    if (this.#client?.onlyMode !== undefined) await this.#begin(bound);
    this.#root = root;
    this.#remark = undefined;
    this.#chosen = true;
    return bound;
  }

  /** Gets what others have pushed; see `Context.catchUp`. */
  async catchUp(): Promise<void> {
    await this.#sync?.catchUp();
  }

  /** The tool by which the client can choose another folder; undefined where it has none. */
  #switchTool(): string | undefined {
    const isOffered = this.#beginning.enabled?.includes('memory-bank') ?? true;
    return this.#client?.isLocal && isOffered ? 'set_memory_bank_path' : undefined;
  }

  /** Returns the sentence for the client about the choice of the root; once for each choice. */
  takeRemark(): string | undefined {
    const remark = this.#remark;
    this.#remark = undefined;
    return remark;
  }

  /** Chooses the root again at the next call, if it depends on the roots of the client. */
  rootsChanged(): void {
    if (!this.#chosen) this.#root = undefined;
  }

  /**
   * Adds a listener, which follows the session to other workspaces.
   *
   * @returns a function that removes it.
   */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#watched?.stop();
      this.#watched = undefined;
    };
  }

  /** Enters the mode in which the session begins. */
  async #begin(bound: BoundWorkspace): Promise<BoundWorkspace> {
    const mode = this.#client?.onlyMode ?? this.#beginning.mode;
    if (mode !== undefined && !this.#begun) await bound.modes.switch(mode);
    this.#begun = true;
    return bound;
  }

  async #bind(root: string, binding: Binding, effect: Tool['effect']): Promise<BoundWorkspace> {
    const memory = await this.#workspaces.project(root);
    const sync = await this.#workspaces.autoSync(memory);
    const isNew = sync !== this.#sync;
    this.#sync = sync;
    if (isNew) await sync?.begin();
    const review = await this.#review(root, memory.review, binding, effect);
    this.#follow(review ?? memory);
    // Changes that wait for a review are not exchanged.
    if (review) return review.bind(binding);
    // A call that says that it reads cannot bypass the review.
    if (memory.review && this.#client?.isAgent) return memory.bind({ ...binding, isReading: true });
    if (!sync) return memory.bind(binding);
    const { session } = binding;
    const client = this.#client?.isOneCall ? (session.agent ?? '') : session.id;
    const obstacle = effect === 'read' ? undefined : await sync.obstacle();
    const onCommit: Binding['onCommit'] = (commit) => {
      sync.changed();
      const problem = sync.takeProblem(client, obstacle);
      if (problem !== undefined) binding.note?.(`The remote does not have the change: ${problem}`);
      binding.onCommit(commit);
    };
    return memory.bind({ ...binding, onCommit });
  }

  /** The workspace with the session's changes that wait for a review; undefined for the memory itself. */
  async #review(
    root: string,
    rule: ReviewRule | undefined,
    { session }: Binding,
    effect: Tool['effect'],
  ): Promise<Workspace | undefined> {
    const { review, isAgent, isOneCall, beginsReview } = this.#client ?? {};
    if (review === undefined && (!rule || !isAgent)) return undefined;
    const name = review ?? rule?.branch ?? reviewName(session, isOneCall === true);
    const found = await this.#workspaces.review(
      root,
      name,
      (review === undefined || beginsReview === true) && effect !== 'read',
    );
    if (found || review === undefined) return found;
    throw new MemoryError('not_found', `There is no review ${JSON.stringify(review)}.`, {
      hint: '"memory-bank review" lists them.',
    });
  }

  /** Moves the listeners to the current workspace of the session. */
  #follow(workspace: Workspace): void {
    if (this.#listeners.size === 0 || this.#watched?.workspace === workspace) return;
    const moved = this.#watched !== undefined;
    this.#watched?.stop();
    const notify: Listener = (paths) => {
      for (const listener of this.#listeners) listener(paths);
    };
    this.#watched = { workspace, stop: workspace.watch(notify) };
    if (moved) notify([]);
  }
}

/** The name under which changes of a session wait: its agent, and the end of its id. */
function reviewName({ agent = 'agent', id }: Session, isOneCall: boolean): string {
  const [client = ''] = agent.split('/', 1);
  const ascii = client.replace(/[^ -~]+/g, '-');
  // A slug is also a name that Windows can store.
  const short = /[a-z0-9]/i.test(ascii) ? slug(ascii, 40) : 'agent';
  return isOneCall ? short : `${short}-${id.slice(-8).toLowerCase()}`;
}

/** Resolves when the work succeeds, fails or is cancelled. */
function settled(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      // Many calls can share one signal.
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    work.then(end, end);
  });
}
