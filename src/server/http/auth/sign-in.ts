import { hash, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { decodeJwt } from 'jose';
import type { LogLevel } from '../../../core/declarations/context.ts';
import { HttpError } from '../server/http-error.ts';
import type { Auth } from './auth.ts';
import type { CodeGrant, GrantRequest, GrantSettings } from './code-grant.ts';
import { pageSecret } from './login-sessions.ts';
import { type Projects, projectOf } from './projects.ts';
import type { OAuthSettings, ProtectedResource } from './protected-resource.ts';

/** The time that a person has for signing in at the authorization server, in milliseconds. */
const attemptLife = 10 * 60 * 1000;

/** The limit of sign-ins under way: anybody can begin one. */
export const maxAttempts = 1_000;

/** The page to which the authorization server sends the browser back. */
const returnPath = '/view/sign-in';

/** A sign-in under way. */
interface Attempt {
  readonly request: GrantRequest;
  /** The hash of the secret of the page that began it. */
  readonly page: Buffer;
  readonly expires: number;
}

interface SignInParts {
  readonly oauth: OAuthSettings;
  readonly resource: ProtectedResource;
  readonly auth: Auth;
  readonly projects: Projects;
  readonly log: (level: LogLevel, message: string) => void;
}

/**
 * Signs people in by the authorization server, for a session of the window.
 *
 * A page begins with a secret that it keeps where only pages of this server can read it. Only a page
 * with the same secret can finish: a link to somebody else's sign-in is of no use. The session is then
 * bound to this secret.
 */
export class SignIn {
  /** The name of the authorization server for people. */
  readonly issuer: string;
  /** The address of this server that the authorization server knows. */
  readonly address: string;
  readonly #settings: GrantSettings;
  readonly #parts: SignInParts;
  readonly #attempts = new Map<string, Attempt>();
  #loaded: Promise<CodeGrant> | undefined;

  private constructor(parts: SignInParts, settings: GrantSettings, address: string) {
    this.#parts = parts;
    this.#settings = settings;
    this.issuer = new URL(settings.issuer).host;
    this.address = address;
  }

  /** Returns undefined for a server whose window is not a client of the authorization server. */
  static of(parts: SignInParts): SignIn | undefined {
    const { issuer, client, publicUrl } = parts.oauth;
    if (!client) return undefined;
    const address = publicUrl.replace(/\/$/, '');
    const { audience } = parts.resource;
    // A resource is a URL; any other audience is a matter of the authorization server.
    const resource = URL.canParse(audience) && !audience.includes('#') ? audience : undefined;
    const redirectUri = `${address}${returnPath}`;
    return new SignIn(parts, { issuer, client, redirectUri, resource }, address);
  }

  /**
   * Begins a sign-in of the page that sends the request.
   *
   * @throws HttpError 400 if the page sends no secret, 502 or 503 if the authorization server cannot
   *   be used.
   */
  async begin(request: Request): Promise<GrantRequest> {
    const page = digest(pageSecret(request));
    const begun = await this.#reported(async () => (await this.#grant()).begin());
    const now = Date.now();
    for (const [state, { expires }] of this.#attempts) {
      if (expires <= now || this.#attempts.size >= maxAttempts) this.#attempts.delete(state);
    }
    this.#attempts.set(begun.state, { request: begun, page, expires: now + attemptLife });
    return begun;
  }

  /**
   * Finishes a sign-in, opens the session of its page and sets the cookie.
   *
   * @param answer the parameters with which the authorization server has sent the browser back.
   * @returns when the session expires: with the access token, or before.
   * @throws HttpError that says what to do; no session was opened then.
   */
  async finish(answer: URLSearchParams, request: Request, response: Response): Promise<Date> {
    const attempt = this.#take(answer.get('state') ?? '', digest(pageSecret(request)));
    return this.#reported(async () => {
      const token = await (await this.#grant()).redeem(attempt.request, answer);
      await this.#accept(token, response);
      return this.#parts.auth.openForAll(request, response);
    });
  }

  /** Loads the code of the protocol, which most runs of a server do not need. */
  #grant(): Promise<CodeGrant> {
    this.#loaded ??= import('./code-grant.ts').then(
      ({ CodeGrant }) => new CodeGrant(this.#settings),
    );
    return this.#loaded;
  }

  /** Takes a sign-in that can be finished once, by its page only. */
  #take(state: string, page: Buffer): Attempt {
    const attempt = this.#attempts.get(state);
    if (attempt && timingSafeEqual(attempt.page, page)) {
      this.#attempts.delete(state);
      if (attempt.expires > Date.now()) return attempt;
    }
    const reasons = 'It took too long, was finished already, or began in another browser';
    throw new HttpError(400, `This sign-in cannot be finished. ${reasons}. Begin again.`);
  }

  /** @throws HttpError 403 unless the token is for this server and may read the project of the page. */
  async #accept(token: string, response: Response): Promise<void> {
    const { auth, resource, projects } = this.#parts;
    if (!(await auth.accept(token, undefined, response))) {
      const form = `a JWT of this issuer for the audience ${resource.audience}`;
      const whose = `The access token of ${this.issuer} is not for this server`;
      const advice = 'The log of this server says more to the administrator.';
      const error = new HttpError(403, `${whose}: it has to be ${form}. ${advice}`);
      error.cause = new Error(describeToken(token));
      throw error;
    }
    const anyProject = response.locals.base === undefined && projects.of(response).length > 0;
    if (!anyProject) auth.require('memory:read', response, projectOf(response));
  }

  /** Runs a step, and logs the reason for which it fails. */
  async #reported<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (thrown) {
      if (thrown instanceof HttpError) {
        const { message, cause } = thrown;
        const why = cause instanceof Error ? ` ${cause.message}` : '';
        this.#parts.log('warning', `A sign-in has failed: ${message}${why}`);
      }
      throw thrown;
    }
  }
}

/** Describes a token that was not accepted, so that the administrator can compare its claims. */
function describeToken(token: string): string {
  try {
    const { iss, aud, exp } = decodeJwt(token);
    return `The token has ${JSON.stringify({ iss, aud, exp }).slice(0, 500)}.`;
  } catch {
    return 'The token is not a JWT.';
  }
}

function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
