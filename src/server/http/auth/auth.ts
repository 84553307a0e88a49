import { hash, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Author } from '../../../core/memory/session.ts';
import { HttpError } from '../server/http-error.ts';
import type { Identity, Scope } from './access-tokens.ts';
import type { LoginSessions, OpenedSession } from './login-sessions.ts';
import { type ServedProject, scopeIn } from './projects.ts';
import type { ProtectedResource } from './protected-resource.ts';
import { scopesFor } from './route-access.ts';

/** The sender of a request. */
export interface Caller {
  /** Identifies the caller; never the key itself. */
  readonly id: string;
  /** The owner of limits and MCP sessions: the key, also for a session of it, or the address. */
  readonly account: string;
  /** Whether a valid key, token or session was sent, or none is needed. */
  readonly authorized: boolean;
  /** Whether it can open a session: a session cannot prolong itself by another one. */
  readonly opensSession: boolean;
  /** Whether a session cookie authorizes the request. */
  readonly bySession: boolean;
  /** Whether it may do what needs a scope. */
  may(scope: Scope, project: ServedProject | undefined): boolean;
  /** The author of the commits of the caller, if an access token names it. */
  readonly author?: Author | undefined;
  /** The only mode that the caller may use; undefined for any. */
  readonly mode?: string | undefined;
  /** When its access token expires, in milliseconds since 1970; undefined for any other caller. */
  readonly expires?: number;
}

declare global {
  namespace Express {
    interface Locals {
      caller: Caller;
    }
  }
}

/** The ways to authorize a request. */
export interface AuthSettings {
  /** The API keys of programs; undefined lets everybody use the API. */
  readonly keys: readonly string[] | undefined;
  /** The keys of people, who also decide on the changes of agents. */
  readonly personKeys: readonly string[];
  /** Checks access tokens; undefined accepts none. */
  readonly tokens: ProtectedResource | undefined;
  readonly sessions: LoginSessions<Caller>;
}

/** The API keys, login sessions and access tokens of the HTTP API. */
export class Auth {
  readonly #keys: readonly Buffer[] | undefined;
  readonly #personKeys: readonly Buffer[];
  readonly #tokens: ProtectedResource | undefined;
  readonly #sessions: LoginSessions<Caller>;

  constructor({ keys, personKeys, tokens, sessions }: AuthSettings) {
    this.#keys = keys?.map(digest);
    this.#personKeys = personKeys.map(digest);
    this.#tokens = tokens;
    this.#sessions = sessions;
  }

  /** Sets `locals.caller` to the sender of the request, without refusing any. */
  identify(): RequestHandler[] {
    return [
      this.#sessions.parse,
      (request, response, next) => {
        const caller = this.#callerOf(request, response);
        response.locals.caller = caller;
        const token = caller.authorized ? undefined : bearerOf(request);
        if (token === undefined || !this.#tokens) return next();
        return this.accept(token, response.locals.project, response).then(() => next());
      },
    ];
  }

  /**
   * Sets `locals.caller` to the caller that an access token names; returns whether it is valid.
   *
   * @param project see `ProtectedResource.identify`.
   * @throws HttpError 503 if the keys of the issuer cannot be read.
   */
  async accept(
    token: string,
    project: ServedProject | undefined,
    { locals }: Response,
  ): Promise<boolean> {
    const known = await this.#tokens?.identify(token, project);
    if (known) locals.caller = withToken(locals.caller, known);
    return known !== undefined;
  }

  /** Refuses requests without a valid key, session or access token. */
  readonly authorized: RequestHandler = (request, response, next) => {
    if (response.locals.caller.authorized) return next();
    const sent = bearerOf(request) !== undefined;
    const needed = this.#tokens ? 'an API key or access token' : 'an API key';
    throw new HttpError(
      401,
      `Send ${needed} as "Authorization: Bearer <key>", or a session cookie.`,
      {
        'WWW-Authenticate':
          this.#tokens?.challenge(
            sent ? { error: 'invalid_token' } : {},
            response.locals.base ?? '',
          ) ?? 'Bearer',
      },
    );
  };

  /**
   * Refuses a caller that lacks a scope.
   *
   * @param project undefined for the whole server, where a scope for one project is not enough.
   * @throws HttpError 403 that names the scope, so that the client can ask for it.
   */
  require(level: Scope, response: Response, project: ServedProject | undefined): void {
    const { caller, base = '' } = response.locals;
    if (caller.may(level, project)) return;
    const scope = scopeIn(project, level);
    const forPeople = 'Only a person can do this: in the pages with a key of a person, or by';
    const ways = `${forPeople} "memory-bank review" and "memory-bank view".`;
    const lacking = `The access token lacks the scope ${scope}.`;
    if (caller.expires === undefined) throw new HttpError(403, ways);
    const fields = { error: 'insufficient_scope', scope };
    throw new HttpError(403, level === 'memory:review' ? `${lacking} ${ways}` : lacking, {
      'WWW-Authenticate': this.#tokens?.challenge(fields, base) ?? 'Bearer',
    });
  }

  /**
   * Opens a session for a caller that sent a key or an access token, and sets its cookie.
   *
   * @returns when the session expires.
   * @throws HttpError 401 if the request carries neither.
   */
  open(request: Request, response: Response): Date {
    const { caller, project, base } = response.locals;
    // A token may be for one project only.
    const only = caller.expires === undefined || base === undefined ? undefined : project?.name;
    return this.#begin(request, response, only);
  }

  /** Opens a session for all projects, for a caller whose token is for the whole server. */
  openForAll(request: Request, response: Response): Date {
    return this.#begin(request, response, undefined);
  }

  #begin(request: Request, response: Response, only: string | undefined): Date {
    const { caller } = response.locals;
    if (!caller.opensSession) {
      const message = 'POST /session needs an API key or access token in the header Authorization.';
      throw new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });
    }
    return this.#sessions.open(request, response, { owner: caller, only, expires: caller.expires });
  }

  /** Opens a session for a person whose right was checked already. */
  admit(request: Request, response: Response): OpenedSession {
    return this.#sessions.openForPage(request, response, { owner: keyHolder('link', true) });
  }

  /** Ends the session of the request; returns whether there was one. */
  end(request: Request, response: Response): boolean {
    return this.#sessions.end(request, response);
  }

  #callerOf(request: Request, response: Response): Caller {
    const key = bearerOf(request);
    if (key !== undefined) {
      const person = indexOf(key, this.#personKeys);
      if (person >= 0) return keyHolder(`person:${person}`, true);
      const program = indexOf(key, this.#keys ?? []);
      if (program >= 0) return keyHolder(`key:${program}`, false);
    }
    // All IPv6 addresses of one customer count as one.
    const address = `address:${ipKeyGenerator(request.ip ?? '')}`;
    const stranger = { ...keyHolder(address, false), authorized: false, opensSession: false };
    if (this.#keys === undefined) {
      return this.#ofSession(request, response) ?? keyHolder(address, false);
    }
    if (request.headers.authorization) return stranger;
    return this.#ofSession(request, response) ?? stranger;
  }

  #ofSession(request: Request, { locals: { project } }: Response): Caller | undefined {
    const found = this.#sessions.find(request, project?.name);
    if (!found) return undefined;
    const { id, owner, isOfPage } = found;
    return {
      ...owner,
      // Counts for its key: otherwise each new session would have limits of its own.
      id: `session:${id}`,
      opensSession: false,
      bySession: true,
      // The cookie alone may have reached another server of the same host.
      may: (scope, project) => (isOfPage || scope !== 'memory:review') && owner.may(scope, project),
    };
  }
}

function bearerOf({ headers: { authorization = '' } }: Request): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Returns the index of a key among the known ones, or -1, in constant time. */
function indexOf(key: string, keys: readonly Buffer[]): number {
  const sent = digest(key);
  return keys.reduce((found, known, i) => (timingSafeEqual(sent, known) ? i : found), -1);
}

function digest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Returns the caller that an access token names; its limits are its own. */
function withToken(stranger: Caller, identity: Identity): Caller {
  const { subject, scopes, author, mode, expires } = identity;
  // With the mode: a session that one token has opened is not for another with other limits.
  const id = `token:${JSON.stringify([subject, mode])}`;
  const may = (needed: Scope, project: ServedProject | undefined) =>
    scopesFor(needed).some((scope) => scopes.has(scope) || scopes.has(scopeIn(project, scope)));
  return {
    ...stranger,
    id,
    account: id,
    authorized: true,
    opensSession: true,
    may,
    author,
    mode,
    expires,
  };
}

/** Returns the caller with a key, or with an address where no key is needed. */
function keyHolder(id: string, isPerson: boolean): Caller {
  return {
    id,
    account: id,
    authorized: true,
    opensSession: true,
    bySession: false,
    may: (scope) => isPerson || scope !== 'memory:review',
  };
}
