import { type AnswerRest, limitAnswer, maxAnswer } from '../core/answers/answer-limit.ts';
import type { Context, LogLevel } from '../core/declarations/context.ts';
import type { Tool } from '../core/declarations/tool.ts';
import type { Toolset } from '../core/declarations/toolset.ts';
import type { Binding } from '../core/declarations/workspace.ts';
import type { MadeCommit } from '../core/memory/commit-log.ts';
import type { Session } from '../core/memory/session.ts';
import { monotonicTime } from '../core/timing/clock.ts';
import { type ErrorCode, toMemoryError } from '../core/values/error.ts';
import { noteRepairs, repairInput } from '../core/values/input-repair.ts';
import { redactText } from '../store/secrets/redaction.ts';
import type { EmbeddingSettings } from './embeddings/embedding-endpoint.ts';
import { openEmbedder } from './embeddings/embedding-settings.ts';
import { Model, type ModelSettings } from './model/model.ts';
import { ModelSummarizer } from './model/model-summarizer.ts';
import {
  inProfile,
  type OfferedTool,
  type Profile,
  type ProfileUse,
  usedToolset,
} from './session/agent-profile.ts';
import { CallContext, type CallOptions } from './session/call-context.ts';
import {
  type CallMade,
  callError,
  commitMeta,
  detachedWarning,
  noteNewRepository,
  noteOf,
  noteReview,
  type Reply,
} from './session/call-report.ts';
import { newSession } from './session/clock-and-ids.ts';
import { restOf } from './session/rest-of-answer.ts';
import {
  type Listener,
  type SessionClient,
  type SessionStart,
  SessionWorkspace,
  workspaceKey,
} from './session/session-workspace.ts';
import { findTool, selectToolsets } from './session/toolset-selection.ts';
import { noteUnknown } from './session/unknown-arguments.ts';
import { untilCommit } from './session/until-commit.ts';
import { type AppParts, program, Workspaces } from './session/workspaces.ts';

/** For transports and commands, which redact the errors that `App` did not throw. */
export { redactText };

export interface AppOptions extends SessionStart {
  /** The memory folder of the user, shared by all projects; its first write creates it. */
  readonly homeFolder: string;
  readonly durability: 'full' | 'relaxed';
  /** The pause between automatic exchanges without changes, in milliseconds; a minute by default. */
  readonly syncInterval?: number | undefined;
  /** The names of the toolsets to offer; undefined for all of them. */
  readonly enabled?: readonly string[] | undefined;
  /** The tools of the enabled toolsets that are listed; undefined for all. The others can be called. */
  readonly profile?: Profile | undefined;
  /** The language model that answers `/chat` and makes summaries; undefined for none. */
  readonly model?: ModelSettings | undefined;
  /** The embedding model that ranks the hits of a search by meaning; undefined for none. */
  readonly embeddings?: EmbeddingSettings | undefined;
  /** Receives messages for the person who runs the server. */
  readonly log: (level: LogLevel, message: string) => void;
}

/** The program behind every transport: opens memories and sessions, and makes the calls. */
export class App {
  /** The configured language model. */
  readonly model: Model | undefined;
  readonly #summarizer: ModelSummarizer | undefined;
  readonly #options: AppOptions;
  readonly #logPlain: AppOptions['log'];
  readonly #parts: AppParts;
  readonly #workspaces: Workspaces;
  readonly #running = new Set<Promise<unknown>>();
  readonly #observers: ((made: CallMade) => void)[] = [];
  #toolsets: Promise<readonly Toolset[]> | undefined;

  constructor(options: AppOptions, parts: AppParts = program) {
    const { homeFolder, durability, syncInterval } = options;
    const log: AppOptions['log'] = (level, message) => options.log(level, redactText(message));
    this.#options = { ...options, log };
    this.#logPlain = options.log;
    this.#parts = parts;
    const warn = (message: string) => log('warning', message);
    const { embeddings } = options;
    const embedder = embeddings && (() => openEmbedder(embeddings));
    this.#workspaces = new Workspaces(
      { homeFolder, durability, syncInterval, warn, embedder },
      parts,
    );
    this.model = options.model && new Model(options.model);
    this.#summarizer = this.model && new ModelSummarizer(this.model, log);
  }

  /**
   * Returns the offered toolsets, in their order.
   *
   * @throws MemoryError `invalid_input` for an unknown name in the options.
   */
  toolsets(): Promise<readonly Toolset[]> {
    this.#toolsets ??= this.#parts
      .toolsets()
      .then((all) => selectToolsets(all, this.#options.enabled));
    return this.#toolsets;
  }

  /** Whether the list of tools depends on the memory of a session. */
  get hasProfile(): boolean {
    return this.#options.profile !== undefined;
  }

  /**
   * Lists the tools that a session is offered, in the order of their toolsets.
   *
   * @param session undefined for one without a project yet.
   */
  async offered(session: Session | undefined): Promise<readonly OfferedTool[]> {
    const toolsets = await this.toolsets();
    const all = toolsets.flatMap((toolset) =>
      toolset.tools.flatMap((tool) => (tool.listed === false ? [] : { tool, toolset })),
    );
    if (!this.hasProfile) return all;
    return inProfile(all, await this.#profileUse(session));
  }

  /** The use of a session's project; nothing is used without one. */
  async #profileUse(session: Session | undefined): Promise<ProfileUse> {
    const root = session && (await this.root(session).catch(() => undefined));
    if (!session || root === undefined) return { usesGraph: false, hasRemote: false };
    const { hasMemoryFolder, hasRemote } = await import('./session/placed-apart.ts');
    const usesGraph =
      hasMemoryFolder(root, usedToolset) ?? (await this.#hasRecords(session, usedToolset));
    return { usesGraph, hasRemote: hasRemote(root) };
  }

  /** Whether the memory of a session has records of a toolset; false without a memory. */
  async #hasRecords(session: Session, name: string): Promise<boolean> {
    const types = (await this.toolsets()).find((one) => one.name === name)?.records ?? [];
    return this.run(session, 'tools/list', {}, async ({ store }) => {
      for (const type of types) if ((await store.keys(type)).keys.length > 0) return true;
      return false;
    }).catch(() => false);
  }

  /** Begins a session. */
  connect(client?: SessionClient): Session {
    const session = newSession(client?.isAgent);
    session.onlyMode = client?.onlyMode;
    session.set(workspaceKey, new SessionWorkspace(this.#options, this.#workspaces, client));
    return session;
  }

  /** Chooses the root again at the next call, if it depends on the roots of the client. */
  rootsChanged(session: Session): void {
    session.get(workspaceKey).rootsChanged();
  }

  /**
   * Returns the root that a session serves, without opening its memory.
   *
   * @param clientRoots returns the roots of the client if they decide; by default the client of the
   *   session names them.
   * @throws MemoryError `no_project`, or the error of `clientRoots`.
   */
  root(session: Session, clientRoots?: () => Promise<readonly string[]>): Promise<string> {
    return session.get(workspaceKey).root(clientRoots);
  }

  /**
   * Opens the memory that a session serves, so that its first call does not wait for that.
   *
   * It commits, merges and fetches nothing, so a memory that a call would have to look for is left to
   * the call.
   *
   * @param clientRoots see `root`.
   * @throws MemoryError see `root`, or the error of opening the memory.
   */
  warm(session: Session, clientRoots?: () => Promise<readonly string[]>): Promise<void> {
    const work = async () => {
      const root = await this.root(session, clientRoots);
      const { isPlainMemory } = await import('./session/placed-apart.ts');
      if (isPlainMemory(root)) await this.#workspaces.warm(root);
    };
    return this.#untilClose(work());
  }

  /**
   * Calls a tool, for every transport.
   *
   * @param name of the tool, or the name that clients print: `mcp__memory__memory_read`.
   * @returns undefined for an unknown tool; every other error is in the reply.
   */
  call(
    session: Session,
    name: string,
    given: unknown,
    options: CallOptions = {},
  ): Promise<Reply | undefined> {
    const reply = async (inTurn: CallOptions & { readonly signal: AbortSignal }) => {
      const found = findTool(await this.toolsets(), name);
      if (!found || (found.tool.listed === false && !options.unlisted)) return undefined;
      const { tool, toolset } = found;
      const commits: MadeCommit[] = [];
      const repaired = repairInput(tool.input, given);
      const { args } = repaired;
      const notes = [noteRepairs(tool.name, repaired), noteUnknown(tool, args)]
        .filter((sentence) => sentence !== undefined)
        .map(redactText);
      const onCommit = (made: MadeCommit) => {
        commits.push(made);
        if (made.newRepository !== undefined) notes.push(noteNewRepository(made.newRepository));
        notes.push(...noteReview(session, made));
        inTurn.onCommit?.(made);
      };
      const note = (text: string) => notes.push(text);
      const reporting = { ...inTurn, onCommit, note };
      try {
        const work = async (context: Context) => {
          await toolset.before?.(context, tool);
          return tool.call(context, args);
        };
        const whole = await this.#work(session, tool.name, reporting, work, tool.effect);
        const { value, note: leftOut } = options.forModel
          ? limitAnswer(whole, restOf(tool, args), maxAnswer - maxEnvelope)
          : { value: whole, note: undefined };
        if (leftOut !== undefined) notes.push(leftOut);
        const body = toolset.success(tool, value);
        const remark = session.get(workspaceKey).takeRemark();
        if (remark !== undefined) notes.push(redactText(remark));
        return { body, ...noteOf(notes), error: undefined, meta: commitMeta(commits) };
      } catch (thrown) {
        const error = toMemoryError(thrown);
        const failure = toolset.failure(tool, error);
        const all = failure.note === undefined ? notes : [failure.note, ...notes];
        return {
          body: options.forModel ? limitAnswer(failure.body, restOfError).value : failure.body,
          ...noteOf(all),
          error: error.code,
          text: error.text,
          meta: commitMeta(commits),
        };
      }
    };
    return untilCommit(options, (own) => this.#inTurn(session, own, reply));
  }

  /**
   * Works with the memory of a session without a tool: reads a resource, writes a prompt.
   *
   * @param label for the trailer `Memory-Tool` of the commits.
   * @param effect of the work; an agent cannot change a memory that requires reviews by work that reads.
   * @throws MemoryError, and no other error.
   */
  run<R>(
    session: Session,
    label: string,
    options: CallOptions,
    work: (context: Context) => Promise<R>,
    effect: Tool['effect'] = 'read',
  ): Promise<R> {
    return this.#inTurn(session, options, (inTurn) =>
      this.#work(session, label, inTurn, work, effect),
    );
  }

  /**
   * Calls back after records of the session's workspace were added, changed or removed, and without
   * paths after the session moved to another workspace.
   *
   * @returns a function that ends the callbacks.
   */
  watch(session: Session, listener: Listener): () => void {
    return session.get(workspaceKey).watch(listener);
  }

  /** Calls back after every call. */
  observe(observer: (made: CallMade) => void): void {
    this.#observers.push(observer);
  }

  /** Whether a call is running. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Waits for running calls, not for summaries, and closes everything; no call may follow. */
  async close(): Promise<void> {
    await this.#summarizer?.close();
    await Promise.allSettled(this.#running);
    await this.#workspaces.close();
  }

  #inTurn<R>(
    session: Session,
    options: CallOptions,
    work: (options: CallOptions & { readonly signal: AbortSignal }) => Promise<R>,
  ): Promise<R> {
    const { signal = new AbortController().signal } = options;
    const running = session.get(workspaceKey).inTurn(signal, (onWait) => {
      const report = (text: string) => {
        onWait();
        options.onWait?.(text);
      };
      return work({ ...options, signal, onWait: report });
    });
    return this.#untilClose(running);
  }

  /** Lets `close` wait for the end of some work. */
  #untilClose<R>(running: Promise<R>): Promise<R> {
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  async #work<R>(
    session: Session,
    label: string,
    options: CallOptions & { readonly signal: AbortSignal },
    work: (context: Context) => Promise<R>,
    effect: Tool['effect'],
  ): Promise<R> {
    const own = session.get(workspaceKey);
    const { signal } = options;
    if (options.agent !== undefined) session.agent = options.agent;
    if (options.author !== undefined) session.author = options.author;
    const log = (level: LogLevel, message: string) => {
      this.#options.log(level, `${label}: ${message}`);
      options.log?.(level, message);
    };
    const progress: Binding['progress'] = (...step) => options.progress?.(...step);
    let made = '';
    let commits = 0;
    const binding: Binding = {
      session,
      tool: label,
      signal,
      progress,
      onWait: (text) => options.onWait?.(text),
      note: (text) => options.note?.(text),
      onCommit: (commit) => {
        options.onCommit?.(commit);
        made = `, commit ${commit.oid}`;
        commits += 1;
        const warning = detachedWarning(commit);
        if (warning) log('warning', warning);
      },
    };
    const began = monotonicTime();
    // For the person who runs the server; the caller already knows it.
    const report = (outcome: 'ok' | ErrorCode) => {
      const milliseconds = monotonicTime() - began;
      // Contains no text of a caller, so nothing in it has to be redacted.
      this.#logPlain('debug', `${label}: ${outcome}, ${Math.round(milliseconds)} ms${made}`);
      for (const observe of this.#observers) {
        observe({ session, label, outcome, milliseconds, commits });
      }
    };
    try {
      signal.throwIfAborted();
      const perform = async () => {
        const workspace = await own.enter(binding, effect).catch(toMemoryError);
        // Without its only mode, the session could still change the memory of the user.
        if (workspace instanceof Error && session.onlyMode !== undefined) throw workspace;
        const call = new CallContext({
          session,
          signal,
          workspace,
          home: async () => (await this.#workspaces.home()).bind(binding).store,
          catchUp: () => own.catchUp(),
          use: (path, { create }) => own.use(path, create, binding, effect),
          toolNames: async () =>
            new Set((await this.offered(session)).map(({ tool }) => tool.name)),
          summarizer: this.#summarizer,
          progress,
          note: (text) => options.note?.(text),
          log,
        });
        return work(call);
      };
      const result = await (options.admit?.(effect, perform) ?? perform());
      report('ok');
      return result;
    } catch (thrown) {
      const error = callError(label, thrown, { signal, commits }, this.#options.log);
      report(error.code);
      throw error;
    }
  }
}

/** Characters that a toolset adds around the value of an answer, at most. */
const maxEnvelope = 200;

/** How the rest of a long error is read. */
const restOfError: AnswerRest = { text: () => 'Call again with shorter arguments.' };
