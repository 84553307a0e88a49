import type {
  Context,
  LogLevel,
  Modes,
  Project,
  ProjectInfo,
} from '../../core/declarations/context.ts';
import type { Tool } from '../../core/declarations/tool.ts';
import type { BoundWorkspace } from '../../core/declarations/workspace.ts';
import type { Claims } from '../../core/memory/claims.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import type { History } from '../../core/memory/history.ts';
import type { Memories } from '../../core/memory/pinned-memories.ts';
import type { Author, Session } from '../../core/memory/session.ts';
import type { Store } from '../../core/memory/store.ts';
import type { Reviews } from '../../core/memory/waiting-reviews.ts';
import type { MemoryError } from '../../core/values/error.ts';
import { now, shortId, uuid } from './clock-and-ids.ts';

/** The options of a call: how it reports to its caller, and how it is cancelled. */
export interface CallOptions {
  /** Aborted when the caller cancels the call. */
  readonly signal?: AbortSignal;
  /** The program that makes the call, such as `claude-code/2.1`; by default the session's. */
  readonly agent?: string | undefined;
  /** The author of the commits; by default the session's. */
  readonly author?: Author | undefined;
  progress?(done: number, total: number, message: string): void;
  log?(level: LogLevel, message: string): void;
  /** Receives what a change waits for, about once a second. */
  onWait?(text: string): void;
  /** Receives a sentence for the model next to the answer. */
  note?(text: string): void;
  /** Whether the call may be of a tool that is not listed, as the REST API does. */
  readonly unlisted?: boolean;
  /** Whether the answer is for a model, so that its growing lists are shortened to what a client accepts. */
  readonly forModel?: boolean;
  /** Runs the work of the call; without it the work runs at once. */
  readonly admit?: Admission;
  /** Receives each commit that the call makes. */
  onCommit?(commit: MadeCommit): void;
}

/**
 * Runs the work of a call, in its turn of the session: now, later, or not at all.
 *
 * @throws MemoryError when it refuses the work before it begins.
 */
export type Admission = <R>(effect: Tool['effect'], work: () => Promise<R>) => Promise<R>;

/** The parts of the context of one call. */
export interface CallScope
  extends Pick<
    Context,
    | 'session'
    | 'toolNames'
    | 'signal'
    | 'summarizer'
    | 'progress'
    | 'note'
    | 'log'
    | 'home'
    | 'catchUp'
  > {
  /** The session's workspace, or why there is none: a call that needs no project works without it. */
  readonly workspace: BoundWorkspace | MemoryError;
  /** Points the session at another folder. */
  use(path: string, options: { readonly create: boolean }): Promise<BoundWorkspace>;
}

/** The context of one call. */
export class CallContext implements Context {
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly summarizer: Context['summarizer'];
  readonly home: Context['home'];
  readonly catchUp: Context['catchUp'];
  readonly toolNames: Context['toolNames'];
  readonly progress: Context['progress'];
  readonly note: Context['note'];
  readonly log: Context['log'];
  readonly now = now;
  readonly uuid = uuid;
  readonly shortId = shortId;
  readonly #use: CallScope['use'];
  #workspace: CallScope['workspace'];

  constructor(scope: CallScope) {
    this.session = scope.session;
    this.signal = scope.signal;
    this.summarizer = scope.summarizer;
    this.home = scope.home;
    this.catchUp = scope.catchUp;
    this.toolNames = scope.toolNames;
    this.progress = scope.progress;
    this.note = scope.note;
    this.log = scope.log;
    this.#use = scope.use;
    this.#workspace = scope.workspace;
  }

  get store(): Store {
    return this.#bound().store;
  }

  get project(): Project {
    return this.#bound().project;
  }

  get history(): History {
    return this.#bound().history;
  }

  get modes(): Modes {
    return this.#bound().modes;
  }

  get claims(): Claims {
    return this.#bound().claims;
  }

  get reviews(): Reviews {
    return this.#bound().reviews;
  }

  get memories(): Memories {
    return this.#bound().memories;
  }

  async useProject(path: string, options: { readonly create: boolean }): Promise<ProjectInfo> {
    const workspace = await this.#use(path, options);
    this.#workspace = workspace;
    return workspace.project.info();
  }

  #bound(): BoundWorkspace {
    if (this.#workspace instanceof Error) throw this.#workspace;
    return this.#workspace;
  }
}
