import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import cookieParser from 'cookie-parser';
import type { Request, RequestHandler, Response } from 'express';
import { isLoopback } from '../server/address.ts';
import { HttpError } from '../server/http-error.ts';

/** The life of a session, in milliseconds. */
const sessionLife = 8 * 60 * 60 * 1000;

/** The usual name of the cookie. */
const usualCookie = 'session_id';

/**
 * The header by which a page sends the secret of its session.
 *
 * A browser sends the cookie to all servers of its host, whatever their port; only the page has the
 * secret, and a page of another site cannot set the header.
 */
export const pageHeader = 'x-memory-page';

/** A secret of at least 192 random bits in base64url. */
const secretForm = /^[\w-]{32,200}$/;

/**
 * Returns the secret of the page that sends a request.
 *
 * @throws HttpError 400 if there is none that nobody can guess.
 */
export function pageSecret(request: Request): string {
  const secret = request.get(pageHeader) ?? '';
  if (secretForm.test(secret)) return secret;
  const form = 'a secret of 32 random characters or more, of A-Z, a-z, 0-9, "_" and "-"';
  throw new HttpError(400, `A web page opens a session with ${form}, as X-Memory-Page.`);
}

/** A session that is about to be opened. */
interface Login<Owner> {
  readonly owner: Owner;
  /** The name of the only project that it is for; undefined for all. */
  readonly only?: string | undefined;
  /** When the right of the owner expires, in milliseconds since 1970; undefined for never. */
  readonly expires?: number | undefined;
}

interface KeptLogin<Owner> extends Login<Owner> {
  readonly expires: number;
  /** The hash of the secret; undefined for a session of a program. */
  readonly secret: Buffer | undefined;
}

/** An open session, as a request uses it. */
interface FoundSession<Owner> {
  readonly id: string;
  readonly owner: Owner;
  /** Whether the request has proved that it comes from the page which opened the session. */
  readonly isOfPage: boolean;
}

/** A session that was opened for a page. */
export interface OpenedSession {
  /** The value of the header that the page sends. */
  readonly secret: string;
}

/** The sessions that people and programs have opened, by a signed cookie. */
export class LoginSessions<Owner> {
  readonly #cookie: string;
  readonly #signing = randomBytes(32).toString('hex');
  readonly #isPublicSecure: boolean;
  readonly #logins = new Map<string, KeptLogin<Owner>>();
  readonly #parseCookies = cookieParser(this.#signing);

  /**
   * @param publicUrl where clients reach the server; undefined if that is not known.
   * @param cookie the name of the cookie. All ports of a host share their cookies, so two servers that
   *   people use at the same time need two names.
   */
  constructor(publicUrl: string | undefined, cookie = usualCookie) {
    this.#isPublicSecure = publicUrl?.startsWith('https:') ?? false;
    this.#cookie = cookie;
  }

  /** Reads the cookies of a request. */
  readonly parse: RequestHandler = (request, response, next) => {
    if (request.headers.cookie !== undefined) return this.#parseCookies(request, response, next);
    // The answer may set one.
    Object.assign(request, { secret: this.#signing, signedCookies: {} });
    next();
  };

  /**
   * Opens a session, which a page binds to the secret in its header, and sets the cookie.
   *
   * @returns when it expires.
   * @throws HttpError 400 if a web page sends no secret.
   */
  open(request: Request, response: Response, login: Login<Owner>): Date {
    // Only browsers send these headers; a program keeps its cookies for itself.
    const isPage = ['origin', 'sec-fetch-site'].some((name) => request.get(name) !== undefined);
    const hasSecret = isPage || request.get(pageHeader) !== undefined;
    return this.#begin(request, response, login, hasSecret ? pageSecret(request) : undefined);
  }

  /** Opens a session with a new secret, which the caller hands to the page. */
  openForPage(request: Request, response: Response, login: Login<Owner>): OpenedSession {
    const secret = randomBytes(32).toString('base64url');
    this.#begin(request, response, login, secret);
    return { secret };
  }

  /**
   * Returns the session of a request; undefined without a valid one.
   *
   * @param project the name of the project that the request is for.
   */
  find(request: Request, project: string | undefined): FoundSession<Owner> | undefined {
    const id = String(request.signedCookies[this.#cookie]);
    const login = this.#logins.get(id);
    if (!login || login.expires <= Date.now()) return undefined;
    if (login.only !== undefined && login.only !== project) return undefined;
    const { owner, secret } = login;
    const sent = request.get(pageHeader) ?? '';
    if (secret && !timingSafeEqual(secret, digest(sent))) return undefined;
    return { id, owner, isOfPage: secret !== undefined };
  }

  /** Ends the session of a request; returns whether there was one. */
  end(request: Request, response: Response): boolean {
    response.clearCookie(this.#cookie, this.#attributes(request));
    return this.#logins.delete(String(request.signedCookies[this.#cookie]));
  }

  #begin(
    request: Request,
    response: Response,
    login: Login<Owner>,
    secret: string | undefined,
  ): Date {
    const now = Date.now();
    for (const [id, { expires }] of this.#logins) if (expires <= now) this.#logins.delete(id);
    const id = randomBytes(18).toString('base64url');
    const expires = Math.min(now + sessionLife, login.expires ?? Number.POSITIVE_INFINITY);
    const hashed = secret === undefined ? undefined : digest(secret);
    this.#logins.set(id, { ...login, expires, secret: hashed });
    const maxAge = expires - now;
    response.cookie(this.#cookie, id, { ...this.#attributes(request), maxAge });
    return new Date(expires);
  }

  #attributes(request: Request) {
    const secure = this.#isSecure(request);
    return { httpOnly: true, sameSite: 'strict', signed: true, path: '/', secure } as const;
  }

  /**
   * Whether the browser has reached the server by TLS, which a proxy ends.
   *
   * Anybody can send the header, but gets only a cookie that the own browser keeps to itself.
   */
  #isSecure(request: Request): boolean {
    const [protocol = ''] = (request.get('x-forwarded-proto') ?? '').split(',');
    if (protocol.trim().toLowerCase() === 'https') return true;
    const host = request.get('host') ?? '';
    const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
    return this.#isPublicSecure && !isLoopback(name.replace(/^\[|\]$/g, ''));
  }
}

function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
