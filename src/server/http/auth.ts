import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import cookieParser from 'cookie-parser';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { HttpError } from './http-error.ts';

/** How long a session lasts, in milliseconds. */
const sessionLife = 8 * 60 * 60 * 1000;

const cookie = 'session_id';

/** Who sent a request. */
export interface Caller {
  /** Tells callers apart; never the key itself. */
  readonly id: string;
  /** What the limits count by and MCP sessions belong to: the key, also behind a session, else the address. */
  readonly account: string;
  /** Whether a valid key or session was sent, or none is needed. */
  readonly authorized: boolean;
  /** Whether it was the key itself that was sent. */
  readonly byKey: boolean;
  /** Whether the cookie of a session is what authorizes it. */
  readonly bySession: boolean;
}

declare global {
  namespace Express {
    interface Locals {
      caller: Caller;
    }
  }
}

/** A session: who opened it, and when it ends. */
interface Login {
  readonly owner: Caller;
  readonly expires: number;
}

/** Keys and sessions of the HTTP API (3.18). */
export class Auth {
  readonly #secret = randomBytes(32);
  readonly #keys: readonly Buffer[] | undefined;
  readonly #logins = new Map<string, Login>();

  /** @param keys undefined opens the API to everybody. */
  constructor(keys: readonly string[] | undefined) {
    this.#keys = keys?.map((key) => this.#digest(key));
  }

  /** Finds out who sent a request, and refuses nobody. */
  identify(): RequestHandler[] {
    return [
      cookieParser(this.#secret.toString('hex')),
      (request, response, next) => {
        response.locals.caller = this.#callerOf(request);
        next();
      },
    ];
  }

  /**
   * Opens a session for a caller who sent a key, and sets its cookie.
   *
   * @returns when it ends.
   * @throws HttpError 401 for anybody else.
   */
  open(request: Request, response: Response): Date {
    const { caller } = response.locals;
    if (!caller.byKey) throw unauthorized('A session is opened with an API key.');
    const now = Date.now();
    for (const [id, { expires }] of this.#logins) if (expires <= now) this.#logins.delete(id);
    const id = randomBytes(18).toString('base64url');
    const login = { owner: caller, expires: now + sessionLife };
    this.#logins.set(id, login);
    response.cookie(cookie, id, { ...this.#attributes(request), maxAge: sessionLife });
    return new Date(login.expires);
  }

  /** Ends the session of the request; whether there was one. */
  end(request: Request, response: Response): boolean {
    response.clearCookie(cookie, this.#attributes(request));
    return this.#logins.delete(String(request.signedCookies[cookie]));
  }

  #attributes(request: Request) {
    const { secure } = request;
    return { httpOnly: true, sameSite: 'strict', signed: true, path: '/', secure } as const;
  }

  #callerOf(request: Request): Caller {
    // Of IPv6, what belongs to one customer counts as one address.
    const address = `address:${ipKeyGenerator(request.ip ?? '')}`;
    const stranger = {
      id: address,
      account: address,
      authorized: false,
      byKey: false,
      bySession: false,
    };
    if (this.#keys === undefined) {
      return this.#login(request) ?? { ...stranger, authorized: true, byKey: true };
    }
    const { authorization } = request.headers;
    if (!authorization) return this.#login(request) ?? stranger;
    const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    const place = key === undefined ? -1 : this.#find(key, this.#keys);
    if (place < 0) return stranger;
    const id = `key:${place}`;
    return { id, account: id, authorized: true, byKey: true, bySession: false };
  }

  #login(request: Request): Caller | undefined {
    const id = String(request.signedCookies[cookie]);
    const login = this.#logins.get(id);
    if (!login || login.expires <= Date.now()) return undefined;
    // Counted for its key: otherwise whoever opens sessions could send as many requests as he likes.
    return { ...login.owner, id: `session:${id}`, byKey: false, bySession: true };
  }

  /** Where a key stands among the known ones; takes as long for each of them, and for none. */
  #find(key: string, keys: readonly Buffer[]): number {
    const digest = this.#digest(key);
    return keys.reduce((found, known, i) => (timingSafeEqual(digest, known) ? i : found), -1);
  }

  #digest(key: string): Buffer {
    return createHmac('sha256', this.#secret).update(key).digest();
  }
}

/** Refuses callers without a valid key or session. */
export const authorized: RequestHandler = (_request, response, next) => {
  if (!response.locals.caller.authorized) {
    throw unauthorized('Send an API key as "Authorization: Bearer <key>", or a session cookie.');
  }
  next();
};

function unauthorized(message: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });
}
