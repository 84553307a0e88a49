import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Author } from '../../../core/memory/session.ts';
import { isSecure } from '../server/address.ts';
import { HttpError } from '../server/http-error.ts';
import { boundedFetch, IssuerMetadata, requestTimeout } from './issuer-metadata.ts';

/** The scopes of tokens; the last one is for people, who decide on the changes of agents. */
export const scopes = ['memory:read', 'memory:write', 'memory:admin', 'memory:review'] as const;

export type Scope = (typeof scopes)[number];

/** The person or program that a token names. */
export interface Identity {
  readonly subject: string;
  /** The scopes of the token, as it lists them. */
  readonly scopes: ReadonlySet<string>;
  /** The author of its commits; undefined if the token has no name or no e-mail address. */
  readonly author: Author | undefined;
  /** The only mode that it may use; undefined for any. */
  readonly mode: string | undefined;
  /** When the token expires, in milliseconds since 1970. */
  readonly expires: number;
}

/** The claim that limits a token to a mode. */
const modeClaim = 'memory_mode';

/** Signatures that need no shared secret. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** The difference that the clocks of the two servers may have, in seconds. */
const clockSkew = 60;

/** The limit of a token, in bytes. */
const maxToken = 8 * 1024;

/** The time for which keys are kept, in milliseconds. */
const keysKept = 10 * 60 * 1000;

/** The pause between two requests for keys, or after a failed one, in milliseconds. */
const cooldown = 10_000;

type Keys = ReturnType<typeof createRemoteJWKSet>;

/** Checks access tokens, which are JWTs of one issuer, by its published keys. */
export class AccessTokens {
  readonly #issuer: string;
  readonly #cooldown: number;
  readonly #metadata: IssuerMetadata;
  #keys: Promise<Keys> | undefined;
  /** When keys may be requested again after a failure, in milliseconds since 1970. */
  #retryAt = 0;

  constructor(issuer: string, pause = cooldown) {
    this.#issuer = issuer;
    this.#cooldown = pause;
    this.#metadata = new IssuerMetadata(issuer, pause);
  }

  /**
   * Returns the identity in a token.
   *
   * @param audiences the token has to be for one of them.
   * @returns undefined for a token that is not valid.
   * @throws HttpError 503 if the keys of the issuer cannot be read.
   */
  async identify(token: string, audiences: readonly string[]): Promise<Identity | undefined> {
    if (token.length > maxToken || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
    try {
      const { payload } = await jwtVerify(token, await this.#issuerKeys(), {
        issuer: this.#issuer,
        audience: [...audiences],
        algorithms,
        clockTolerance: clockSkew,
        requiredClaims: ['exp', 'sub'],
      });
      return toIdentity(payload);
    } catch (thrown) {
      if (thrown instanceof HttpError) throw thrown;
      if (!isUnavailable(thrown)) return undefined;
      // A request that the pause refused does not prolong it.
      if (!this.#pauses) this.#retryAt = Date.now() + this.#cooldown;
      throw unavailable(thrown);
    }
  }

  /** Whether keys are not requested, because a request for them has just failed. */
  get #pauses(): boolean {
    return Date.now() < this.#retryAt;
  }

  #issuerKeys(): Promise<Keys> {
    this.#keys ??= this.#findKeys().catch((cause: unknown) => {
      this.#keys = undefined;
      throw unavailable(cause);
    });
    return this.#keys;
  }

  async #findKeys(): Promise<Keys> {
    const { jwks_uri: address } = await this.#metadata.read();
    if (typeof address !== 'string' || !isSecure(address)) {
      throw new Error(`The metadata of ${this.#issuer} has no jwks_uri that begins with https.`);
    }
    return createRemoteJWKSet(new URL(address), {
      timeoutDuration: requestTimeout,
      cooldownDuration: this.#cooldown,
      cacheMaxAge: keysKept,
      [customFetch]: (...request) => {
        // Keys that are still kept are used meanwhile.
        if (this.#pauses) throw new Error(`${address} could not be read a moment ago.`);
        return boundedFetch(...request);
      },
    });
  }
}

/** Whether the keys could not be read, so that the token may be valid. */
function isUnavailable(thrown: unknown): boolean {
  if (thrown instanceof errors.JWKSTimeout || thrown instanceof errors.JWKSInvalid) return true;
  return !(thrown instanceof errors.JOSEError) || thrown.code === 'ERR_JOSE_GENERIC';
}

function unavailable(cause: unknown): HttpError {
  const error = new HttpError(503, 'The keys of the authorization server cannot be read.', {
    'Retry-After': '10',
  });
  error.cause = cause;
  return error;
}

function toIdentity(payload: JWTPayload): Identity | undefined {
  const { sub, exp = 0, scope, scp, name, preferred_username, email } = payload;
  const { [modeClaim]: mode } = payload;
  if (typeof sub !== 'string' || sub === '') return undefined;
  // A limit that cannot be read must not become no limit.
  if (mode !== undefined && (typeof mode !== 'string' || mode === '')) return undefined;
  const given = [scope, scp].flat().flatMap((value) => String(value ?? '').split(' '));
  const author = {
    name: oneLine(name) || oneLine(preferred_username) || oneLine(sub),
    email: oneLine(email),
  };
  return {
    subject: sub,
    scopes: new Set(given.filter((value) => value !== '')),
    mode,
    expires: exp * 1000,
    author: /^[^\s@]+@[^\s@]+$/.test(author.email) ? author : undefined,
  };
}

/** Returns a claim as git can store it in the author of a commit. */
function oneLine(claim: unknown): string {
  const text = typeof claim === 'string' ? claim : '';
  return [...text.replace(/[\p{C}\s<>]+/gu, ' ').trim()].slice(0, 100).join('');
}
