import { agentName } from './author-name.ts';

/**
 * A piece of session state that belongs to one toolset.
 *
 * It is declared where it is used; its value is in the session, never in a module variable.
 */
export interface SessionKey<T> {
  readonly name: string;
  initial(): T;
}

/** Declares a piece of session state. */
export function sessionKey<T>(name: string, initial: () => T): SessionKey<T> {
  return { name, initial };
}

/** A person or program as git names it. */
export interface Author {
  readonly name: string;
  readonly email: string;
}

/** A session of one client: a stdio process, or one `Mcp-Session-Id`. */
export class Session {
  readonly #makeId: () => string;
  #id: string | undefined;
  /** Whether its client is an agent; decided by the transport, never by a name that a client sends. */
  readonly isAgent: boolean;
  #agent: string | undefined;
  /** The author of its commits; undefined for the one of git's configuration. */
  author: Author | undefined;
  /** The mode that the session begins with and must stay in; undefined for any. */
  onlyMode: string | undefined;
  readonly #state = new Map<SessionKey<unknown>, unknown>();

  /** @param makeId called when the id is first needed: a session that changes nothing has none. */
  constructor(makeId: () => string, isAgent = false) {
    this.#makeId = makeId;
    this.isAgent = isAgent;
  }

  /** The client's name and version, such as `claude-code/2.1`, if it has sent them. */
  get agent(): string | undefined {
    return this.#agent;
  }

  /** An agent cannot take a name of this program, which commits of people have. */
  set agent(name: string | undefined) {
    this.#agent = name !== undefined && this.isAgent ? agentName(name) : name;
  }

  /** Sortable and unique; the trailer `Memory-Session` of commits. */
  get id(): string {
    this.#id ??= this.#makeId();
    return this.#id;
  }

  get<T>(key: SessionKey<T>): T {
    if (!this.#state.has(key)) this.#state.set(key, key.initial());
    return this.#state.get(key) as T;
  }

  set<T>(key: SessionKey<T>, value: T): void {
    this.#state.set(key, value);
  }
}
