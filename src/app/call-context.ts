import type { Context, LogLevel, Modes, Project } from '../core/context.ts';
import type { MemoryError } from '../core/error.ts';
import type { CommitMade, History } from '../core/history.ts';
import type { RecordType } from '../core/record-type.ts';
import type { Session } from '../core/session.ts';
import type {
  Listing,
  ListOptions,
  LocalState,
  Located,
  OnStored,
  Provenance,
  SearchRequest,
  SearchResult,
  Store,
  Transaction,
} from '../core/store.ts';
import type { Tool } from '../core/tool.ts';
import type { BoundWorkspace } from '../core/workspace.ts';
import { now, shortId, uuid } from './clock-and-ids.ts';

/** What a call may tell the one who made it, and how it is told to stop. */
export interface CallOptions {
  /** Aborted when the caller gives up. */
  readonly signal?: AbortSignal;
  progress?(done: number, total: number, message: string): void;
  log?(level: LogLevel, message: string): void;
  /** Receives a sentence for the model next to the answer. */
  note?(text: string): void;
  /** Whether a tool that is in no list may be called too, as the REST API does. */
  readonly unlisted?: boolean;
  /** Runs the work of the call; without it the work runs at once. */
  readonly admit?: Admission;
  /** Told of each commit that the call makes. */
  onCommit?(commit: CommitMade): void;
}

/**
 * Runs the work of a call, in its turn of the session: now, later, or not at all.
 *
 * @throws MemoryError when it refuses the work before it begins.
 */
export type Admission = <R>(effect: Tool['effect'], work: () => Promise<R>) => Promise<R>;

/** What a call works on. */
export interface CallScope
  extends Pick<Context, 'session' | 'signal' | 'summarizer' | 'progress' | 'note' | 'log'> {
  /** The session's workspace, or why there is none: a call that needs no project works without. */
  readonly here: BoundWorkspace | MemoryError;
  /** Opens the home store. */
  home(): Promise<Store>;
  /** Points the session at another folder. */
  use(path: string, options: { readonly create: boolean }): Promise<BoundWorkspace>;
}

/** The context of one call. */
export class CallContext implements Context {
  readonly store: Store;
  readonly home: Store;
  readonly project: Project;
  readonly modes: Modes;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly summarizer: Context['summarizer'];
  readonly now = now;
  readonly uuid = uuid;
  readonly shortId = shortId;
  readonly progress: Context['progress'];
  readonly note: Context['note'];
  readonly log: Context['log'];
  #here: CallScope['here'];

  constructor(scope: CallScope) {
    this.#here = scope.here;
    const bound = () => this.#bound();
    const project = async () => bound().project;
    const modes = async () => bound().modes;
    this.session = scope.session;
    this.signal = scope.signal;
    this.summarizer = scope.summarizer;
    this.store = new LateStore(async () => bound().store);
    this.home = new LateStore(() => scope.home());
    this.project = {
      info: async () => (await project()).info(),
      head: async () => (await project()).head(),
      initialize: async () => (await project()).initialize(),
      lacking: async () => (await project()).lacking(),
      readFile: async (path, limit) => (await project()).readFile(path, limit),
      lastChange: async (path) => (await project()).lastChange(path),
      drift: async (since, limit) => (await project()).drift(since, limit),
      work: async (limit) => (await project()).work(limit),
      use: async (path, choice) => {
        const here = await scope.use(path, choice);
        this.#here = here;
        return here.project.info();
      },
    };
    this.modes = {
      list: async (planned) => (await modes()).list(planned),
      current: async () => (await modes()).current(),
      switch: async (name) => (await modes()).switch(name),
      isUmbCommand: async (message) => (await modes()).isUmbCommand(message),
      triggeredBy: async (message) => (await modes()).triggeredBy(message),
      get updating() {
        return bound().modes.updating;
      },
      setUpdating: (updating) => bound().modes.setUpdating(updating),
    };
    this.progress = scope.progress;
    this.note = scope.note;
    this.log = scope.log;
  }

  get history(): History {
    return this.#bound().history;
  }

  #bound(): BoundWorkspace {
    if (this.#here instanceof Error) throw this.#here;
    return this.#here;
  }
}

/** A store that is looked up by each use of it. */
class LateStore implements Store {
  readonly #open: () => Promise<Store>;

  constructor(open: () => Promise<Store>) {
    this.#open = open;
  }

  async get<T extends object>(type: RecordType<T>, key: string): Promise<Located<T> | undefined> {
    return (await this.#open()).get(type, key);
  }

  async list<T extends object>(type: RecordType<T>, options?: ListOptions): Promise<Listing<T>> {
    return (await this.#open()).list(type, options);
  }

  readonly local: LocalState = {
    get: async (key) => (await this.#open()).local.get(key),
    set: async (key, value) => (await this.#open()).local.set(key, value),
  };

  async search(request: SearchRequest): Promise<SearchResult> {
    return (await this.#open()).search(request);
  }

  async change<R>(
    why: Provenance | ((result: R) => Provenance),
    edit: (transaction: Transaction) => Promise<R> | R,
    onStored?: OnStored,
  ): Promise<R> {
    return (await this.#open()).change(why, edit, onStored);
  }
}
