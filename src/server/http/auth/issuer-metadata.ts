import { isObject } from '../../../core/values/json.ts';

/** The document, of which only the issuer is checked. */
export type Metadata = Readonly<Record<string, unknown>>;

/** The limit of a document of the authorization server, in bytes. */
const maxDocument = 256 * 1024;

/** The time limit of a request to the authorization server, in milliseconds. */
export const requestTimeout = 5_000;

/** The time for which the metadata is kept, in milliseconds. */
const metadataKept = 10 * 60 * 1000;

/** The metadata of an authorization server, OAuth (RFC 8414) or OpenID Connect. */
export class IssuerMetadata {
  readonly #issuer: string;
  readonly #cooldown: number;
  #kept: { readonly document: Promise<Metadata>; until: number } | undefined;

  /** @param cooldown the pause after a failed request, in milliseconds. */
  constructor(issuer: string, cooldown: number) {
    this.#issuer = issuer;
    this.#cooldown = cooldown;
  }

  /** @throws Error if it cannot be read, or is of another issuer. */
  read(): Promise<Metadata> {
    if (this.#kept && Date.now() < this.#kept.until) return this.#kept.document;
    const document = findMetadata(this.#issuer);
    const kept = { document, until: Date.now() + metadataKept };
    document.catch(() => {
      // Many requests must not become as many requests to the authorization server.
      kept.until = Date.now() + this.#cooldown;
    });
    this.#kept = kept;
    return document;
  }
}

async function findMetadata(issuer: string): Promise<Metadata> {
  const { href, origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${href.replace(/\/$/, '')}/.well-known/openid-configuration`,
  ];
  for (const address of addresses) {
    const response = await boundedFetch(address, { method: 'GET' });
    if (!response.ok) continue;
    const document: unknown = await response.json();
    const metadata = isObject(document) ? document : {};
    if (metadata.issuer !== issuer) {
      throw new Error(`${address} is of the issuer ${JSON.stringify(metadata.issuer)}.`);
    }
    return metadata;
  }
  throw new Error(`None of ${addresses.join(' and ')} can be read.`);
}

/** Fetches a document up to the limits of time and size; a redirect is an error. */
export async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  const signal = options.signal ?? AbortSignal.timeout(requestTimeout);
  const response = await fetch(url, { ...options, redirect: 'error', signal });
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > maxDocument) throw new Error(`${url} is longer than ${maxDocument} bytes.`);
    pieces.push(piece);
  }
  return new Response(Buffer.concat(pieces), {
    status: response.status,
    headers: response.headers,
  });
}
