import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { Call, type CallOptions } from './call.ts';
import type { Context, LogLevel } from './core/context.ts';
import { type ErrorCode, MemoryError, toMemoryError } from './core/error.ts';
import type { JsonObject } from './core/json.ts';
import { Session, sessionKey } from './core/session.ts';
import type { Tool } from './core/tool.ts';
import type { Toolset } from './core/toolset.ts';
import type { Binding, Bound, CommitMade, Workspace } from './core/workspace.ts';
import { sessionId } from './ids.ts';
import { findRoot, type RootInput, rootAt } from './root.ts';
import { type Parts, program, Workspaces } from './workspaces.ts';

export interface AppOptions {
  /** What decides the root, beside the roots of the client. */
  readonly place: Omit<RootInput, 'clientRoots'>;
  /** The bank of the user, shared by all projects; nothing is created before it is written to. */
  readonly homeBank: string;
  readonly durability: 'full' | 'relaxed';
  /** The names of the toolsets to offer; undefined for all of them. */
  readonly enabled?: readonly string[] | undefined;
  /** The mode in which each session begins. */
  readonly mode?: string | undefined;
  /** Where messages for the person who runs the server go. */
  readonly log: (level: LogLevel, message: string) => void;
}

/** The one at the other end of a session. */
export interface Client {
  /** The URIs of its roots; empty when it offers none. */
  roots(): Promise<readonly string[]>;
}

/** An answer in the toolset's own wire format. */
export interface Reply {
  readonly body: JsonObject;
  /** A sentence beside the body, for the model. */
  readonly note?: string;
  /** Why the call failed; undefined when it succeeded. */
  readonly error: ErrorCode | undefined;
  /** `memory-bank/commit` and `memory-bank/branch` of the last commit that the call made, or nothing. */
  readonly meta: JsonObject;
}

/** Where a session is, and what it is doing. */
interface Place {
  client: Client | undefined;
  /** The root that was decided on; undefined until a call needs it. */
  root: string | undefined;
  /** Whether the caller chose the root, so that new roots of the client do not change it. */
  chosen: boolean;
  /** Whether the mode of the start was set. */
  moded: boolean;
  /** The end of the call before. */
  turn: Promise<void>;
  /** Told of changed records. */
  listener: ((paths: readonly string[]) => void) | undefined;
  watched: { readonly workspace: Workspace; stop(): void } | undefined;
}

const placeKey = sessionKey<Place>('place', () => ({
  client: undefined,
  root: undefined,
  chosen: false,
  moded: false,
  turn: Promise.resolve(),
  listener: undefined,
  watched: undefined,
}));

/** The program behind every transport: it opens the memories and the sessions and makes the calls. */
export class App {
  readonly #options: AppOptions;
  readonly #parts: Parts;
  readonly #workspaces: Workspaces;
  readonly #running = new Set<Promise<unknown>>();
  #toolsets: Promise<readonly Toolset[]> | undefined;

  constructor(options: AppOptions, parts: Parts = program) {
    this.#options = options;
    this.#parts = parts;
    this.#workspaces = new Workspaces(options, parts);
  }

  /**
   * The toolsets that are offered, in their order.
   *
   * @throws MemoryError `invalid_input` when one of the names asked for is unknown.
   */
  toolsets(): Promise<readonly Toolset[]> {
    this.#toolsets ??= this.#parts.toolsets().then((all) => narrow(all, this.#options.enabled));
    return this.#toolsets;
  }

  /** Begins a session. */
  connect(client?: Client): Session {
    const session = new Session(sessionId());
    session.get(placeKey).client = client;
    return session;
  }

  /** Decides the root again at the next call, where it depends on the roots of the client. */
  rootsChanged(session: Session): void {
    const place = session.get(placeKey);
    if (!place.chosen) place.root = undefined;
  }

  /**
   * Calls a tool: the one door for every transport.
   *
   * @param name the tool's, or the one that clients print: `mcp__memory__memory_read`.
   * @returns undefined when there is no such tool; every other failure is in the reply.
   */
  async call(
    session: Session,
    name: string,
    args: unknown,
    options: CallOptions = {},
  ): Promise<Reply | undefined> {
    return this.#inTurn(session, options.signal, async () => {
      const found = await this.#find(name);
      if (!found) return undefined;
      const { tool, toolset } = found;
      if (tool.listed === false && !options.unlisted) return undefined;
      const commits: CommitMade[] = [];
      const onCommit = (commit: CommitMade) => commits.push(commit);
      try {
        const value = await this.#work(
          session,
          tool.name,
          { ...options, onCommit },
          async (context) => {
            await toolset.before?.(context, tool);
            return tool.call(context, args);
          },
        );
        return { body: toolset.success(tool, value), error: undefined, meta: provenance(commits) };
      } catch (thrown) {
        const error = toMemoryError(thrown);
        const failure = toolset.failure(tool, error);
        return { ...failure, error: error.code, meta: provenance(commits) };
      }
    });
  }

  /**
   * Does something with the memory of a session that is no tool: reads a resource, writes a prompt.
   *
   * @param label stands in the commits as `Memory-Tool`.
   * @throws MemoryError and nothing else.
   */
  run<R>(
    session: Session,
    label: string,
    options: CallOptions,
    work: (context: Context) => Promise<R>,
  ): Promise<R> {
    return this.#inTurn(session, options.signal, () => this.#work(session, label, options, work));
  }

  /**
   * Calls back after records of the session's workspace were added, changed or removed, and with
   * no paths when the session went to another workspace.
   *
   * @param listener undefined ends it.
   */
  watch(session: Session, listener: ((paths: readonly string[]) => void) | undefined): void {
    const place = session.get(placeKey);
    place.listener = listener;
    if (listener) return;
    place.watched?.stop();
    place.watched = undefined;
  }

  /** Waits for the calls under way and lets go of everything; no call may follow. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    await this.#workspaces.close();
  }

  /**
   * Lets the calls of a session run one after the other, in the order in which they came, so that a
   * client that does not wait for answers reads its own writes. One that is cancelled holds up nobody.
   */
  #inTurn<R>(
    session: Session,
    signal: AbortSignal | undefined,
    work: () => Promise<R>,
  ): Promise<R> {
    const place = session.get(placeKey);
    const running = place.turn.then(work);
    place.turn = settled(running, signal);
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  async #work<R>(
    session: Session,
    label: string,
    options: CallOptions,
    work: (context: Context) => Promise<R>,
  ): Promise<R> {
    const place = session.get(placeKey);
    const signal = options.signal ?? new AbortController().signal;
    const log = (level: LogLevel, message: string) => {
      this.#options.log(level, `${label}: ${message}`);
      options.log?.(level, message);
    };
    const binding: Binding = {
      session,
      tool: label,
      signal,
      onCommit: (commit) => {
        options.onCommit?.(commit);
        const warning = detached(commit);
        if (warning) log('warning', warning);
      },
    };
    try {
      signal.throwIfAborted();
      const call = new Call({
        session,
        signal,
        here: await this.#enter(place, binding).catch(toMemoryError),
        home: async () => (await this.#workspaces.home()).bind(binding).store,
        use: async (path, { create }) => (await this.#use(place, path, create)).bind(binding),
        progress: (done, total, message) => options.progress?.(done, total, message),
        log,
      });
      return await work(call);
    } catch (thrown) {
      throw this.#named(label, thrown, signal);
    }
  }

  async #find(name: string): Promise<{ tool: Tool; toolset: Toolset } | undefined> {
    const toolsets = await this.toolsets();
    for (const candidate of spellings(name)) {
      for (const toolset of toolsets) {
        const tool = toolset.tools.find((one) => one.name === candidate);
        if (tool) return { tool, toolset };
      }
    }
    return undefined;
  }

  /** The session's workspace, in the mode in which the session is to begin. */
  async #enter(place: Place, binding: Binding): Promise<Bound> {
    const { mode, place: start } = this.#options;
    if (place.root === undefined) {
      const clientRoots = async () => (await place.client?.roots()) ?? [];
      place.root = (await findRoot({ ...start, clientRoots })).path;
    }
    const workspace = await this.#workspaces.project(place.root);
    follow(place, workspace);
    const bound = workspace.bind(binding);
    if (mode !== undefined && !place.moded) {
      await bound.modes.switch(mode);
      place.moded = true;
    }
    return bound;
  }

  async #use(place: Place, path: string, create: boolean): Promise<Workspace> {
    const { cwd, home } = this.#options.place;
    const root = await rootAt(resolve(place.root ?? cwd, path), home, create);
    const workspace = await this.#workspaces.project(root);
    Object.assign(place, { root, chosen: true });
    follow(place, workspace);
    return workspace;
  }

  /** The error for the wire; what is a defect of the program goes to the log with its stack. */
  #named(label: string, thrown: unknown, signal: AbortSignal): MemoryError {
    if (signal.aborted && (thrown === signal.reason || isAbort(thrown))) {
      return new MemoryError('cancelled', 'The caller cancelled the call; nothing was written.');
    }
    const error = toMemoryError(thrown);
    if (error.code === 'internal') {
      this.#options.log('error', `${label}: ${inspect(error.cause ?? error)}`);
    }
    return error;
  }
}

function narrow(all: readonly Toolset[], enabled: readonly string[] | undefined) {
  if (enabled === undefined) return all;
  const names = all.map((toolset) => toolset.name);
  const unknown = enabled.filter((name) => !names.includes(name));
  if (unknown.length === 0) return all.filter((toolset) => enabled.includes(toolset.name));
  throw new MemoryError('invalid_input', `There is no toolset "${unknown.join('", "')}".`, {
    hint: `The toolsets are: ${names.join(', ')}.`,
  });
}

/** Keeps the session's listener at the workspace in which the session is. */
function follow(place: Place, workspace: Workspace): void {
  if (!place.listener || place.watched?.workspace === workspace) return;
  const moved = place.watched !== undefined;
  place.watched?.stop();
  place.watched = { workspace, stop: workspace.watch((paths) => place.listener?.(paths)) };
  if (moved) place.listener([]);
}

/** `a__b__c` may be the tool `c` of a server, as clients print it with `mcp__` before it. */
function spellings(name: string): string[] {
  if (!name.startsWith('mcp__') || name.length > 200) return [name];
  const parts = name.split('__');
  return parts.map((_, i) => parts.slice(i).join('__'));
}

function provenance(commits: readonly CommitMade[]): JsonObject {
  const commit = commits.at(-1);
  if (!commit) return {};
  const warning = detached(commit);
  return {
    'memory-bank/commit': commit.oid,
    ...(commit.branch !== undefined && { 'memory-bank/branch': commit.branch }),
    ...(warning !== undefined && { 'memory-bank/warning': warning }),
  };
}

/** What to say of a commit that no branch holds. */
function detached({ branch, oid }: CommitMade): string | undefined {
  if (branch !== undefined) return undefined;
  return `HEAD is detached: no branch holds the commit ${oid.slice(0, 12)}. Keep it by \`git switch -c <name>\`.`;
}

/** Resolves when the work is done, well or badly, or its caller gives up. */
function settled(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal?.removeEventListener('abort', end);
      resolve();
    };
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    work.then(end, end);
  });
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}
