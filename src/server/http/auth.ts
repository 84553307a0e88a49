import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import cookieParser from 'cookie-parser';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Author } from '../../core/session.ts';
import { type Identity, scopes as levels, type Scope } from './access-tokens.ts';
import { HttpError } from './http-error.ts';
import { type ServedProject, scopeIn } from './projects.ts';
import type { ProtectedResource } from './protected-resource.ts';

/** The life of a session, in milliseconds. */
const sessionLife = 8 * 60 * 60 * 1000;

/** The usual name of the cookie. */
const usualCookie = 'session_id';

/** The sender of a request. */
export interface Caller {
  /** Identifies the caller; never the key itself. */
  readonly id: string;
  /** The owner of limits and MCP sessions: the key, also for a session of it, or the address. */
  readonly account: string;
  /** Whether a valid key or session was sent, or none is needed. */
  readonly authorized: boolean;
  /** Whether the request carries the key itself. */
  readonly byKey: boolean;
  /** Whether a session cookie authorizes the request. */
  readonly bySession: boolean;
  /** Whether it may do what needs a scope; a key or session allows everything. */
  may(scope: Scope, project: ServedProject | undefined): boolean;
  /** The author of the commits of the caller, if an access token names it. */
  readonly author?: Author | undefined;
  /** The only mode that the caller may use; undefined for any. */
  readonly mode?: string | undefined;
}

declare global {
  namespace Express {
    interface Locals {
      caller: Caller;
    }
  }
}

/** A session: its owner, and when it expires. */
interface Login {
  readonly owner: Caller;
  readonly expires: number;
}

/** The API keys, login sessions and access tokens of the HTTP API. */
export class Auth {
  readonly #cookie: string;
  readonly #secret = randomBytes(32);
  readonly #keys: readonly Buffer[] | undefined;
  readonly #tokens: ProtectedResource | undefined;
  readonly #logins = new Map<string, Login>();

  /**
   * @param keys undefined lets everybody use the API.
   * @param tokens checks access tokens; undefined accepts none.
   * @param cookie the name of the session cookie. All ports of a host share their cookies, so two
   *   servers that people use at the same time need two names.
   */
  constructor(
    keys: readonly string[] | undefined,
    tokens: ProtectedResource | undefined,
    cookie = usualCookie,
  ) {
    this.#tokens = tokens;
    this.#cookie = cookie;
    this.#keys = keys?.map((key) => this.#digest(key));
  }

  /** Sets `locals.caller` to the sender of the request, without refusing any. */
  identify(): RequestHandler[] {
    const secret = this.#secret.toString('hex');
    const parse = cookieParser(secret);
    return [
      (request, response, next) => {
        if (request.headers.cookie !== undefined) return parse(request, response, next);
        // The answer may set one.
        Object.assign(request, { secret, signedCookies: {} });
        next();
      },
      (request, response, next) => {
        const caller = this.#callerOf(request);
        response.locals.caller = caller;
        const token = caller.authorized ? undefined : bearerOf(request);
        if (token === undefined || !this.#tokens) return next();
        return this.#withToken(token, response, next);
      },
    ];
  }

  /** Sets `locals.caller` to the caller that an access token names, if it is valid. */
  async #withToken(token: string, { locals }: Response, next: () => void): Promise<void> {
    const known = await this.#tokens?.identify(token, locals.project);
    if (known) locals.caller = withToken(locals.caller, known);
    next();
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
   * Refuses a caller whose access token lacks a scope.
   *
   * @param project undefined for the whole server, where a scope for one project is not enough.
   * @throws HttpError 403 that names the scope, so that the client can ask for it.
   */
  require(level: Scope, response: Response, project: ServedProject | undefined): void {
    if (response.locals.caller.may(level, project)) return;
    const scope = scopeIn(project, level);
    const fields = { error: 'insufficient_scope', scope };
    throw new HttpError(403, `The access token lacks the scope ${scope}.`, {
      'WWW-Authenticate': this.#tokens?.challenge(fields, response.locals.base ?? '') ?? 'Bearer',
    });
  }

  /**
   * Opens a session for a caller that sent a key, and sets its cookie.
   *
   * @returns when the session expires.
   * @throws HttpError 401 if the request carries no key.
   */
  open(request: Request, response: Response): Date {
    const { caller } = response.locals;
    if (!caller.byKey)
      throw unauthorized('POST /session needs an API key in the header Authorization.');
    return this.#begin(caller, request, response);
  }

  /** Opens a session for a person whose right the caller has checked, as one of the first key. */
  admit(request: Request, response: Response): void {
    this.#begin(ofKey(0), request, response);
  }

  #begin(caller: Caller, request: Request, response: Response): Date {
    const now = Date.now();
    for (const [id, { expires }] of this.#logins) if (expires <= now) this.#logins.delete(id);
    const id = randomBytes(18).toString('base64url');
    const login = { owner: caller, expires: now + sessionLife };
    this.#logins.set(id, login);
    response.cookie(this.#cookie, id, { ...this.#attributes(request), maxAge: sessionLife });
    return new Date(login.expires);
  }

  /** Ends the session of the request; returns whether there was one. */
  end(request: Request, response: Response): boolean {
    response.clearCookie(this.#cookie, this.#attributes(request));
    return this.#logins.delete(String(request.signedCookies[this.#cookie]));
  }

  #attributes(request: Request) {
    const { secure } = request;
    return { httpOnly: true, sameSite: 'strict', signed: true, path: '/', secure } as const;
  }

  #callerOf(request: Request): Caller {
    const key = bearerOf(request);
    if (this.#keys && key !== undefined) {
      const index = this.#indexOf(key, this.#keys);
      if (index >= 0) return ofKey(index);
    }
    // All IPv6 addresses of one customer count as one.
    const address = `address:${ipKeyGenerator(request.ip ?? '')}`;
    const stranger = {
      id: address,
      account: address,
      authorized: false,
      byKey: false,
      bySession: false,
      may: () => true,
    };
    if (this.#keys === undefined) {
      return this.#login(request) ?? { ...stranger, authorized: true, byKey: true };
    }
    return request.headers.authorization ? stranger : (this.#login(request) ?? stranger);
  }

  #login(request: Request): Caller | undefined {
    const id = String(request.signedCookies[this.#cookie]);
    const login = this.#logins.get(id);
    if (!login || login.expires <= Date.now()) return undefined;
    // Counts for its key: otherwise each new session would have limits of its own.
    return { ...login.owner, id: `session:${id}`, byKey: false, bySession: true };
  }

  /** Returns the index of a key among the known ones, or -1, in constant time. */
  #indexOf(key: string, keys: readonly Buffer[]): number {
    const digest = this.#digest(key);
    return keys.reduce((found, known, i) => (timingSafeEqual(digest, known) ? i : found), -1);
  }

  #digest(key: string): Buffer {
    return hash('sha256', key, 'buffer');
  }
}

function bearerOf({ headers: { authorization = '' } }: Request): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Returns the caller that an access token names; its limits are its own. */
function withToken(stranger: Caller, { subject, scopes, author, mode }: Identity): Caller {
  // With the mode: a session that one token has opened is not for another with other limits.
  const id = `token:${JSON.stringify([subject, mode])}`;
  const may = (needed: Scope, project: ServedProject | undefined) =>
    levels
      .slice(levels.indexOf(needed))
      .some((level) => scopes.has(level) || scopes.has(scopeIn(project, level)));
  return { ...stranger, id, account: id, authorized: true, may, author, mode };
}

/** The caller that sends the key of an index. */
function ofKey(index: number): Caller {
  const id = `key:${index}`;
  return {
    id,
    account: id,
    authorized: true,
    byKey: true,
    bySession: false,
    may: () => true,
  };
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });
}
