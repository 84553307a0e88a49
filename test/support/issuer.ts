import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type GrantAnswer, type GrantedTokens, IssuerGrants } from './issuer-grants.ts';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

/** Claims of a token; undefined leaves one out. */
export type Claims = { readonly [name: string]: unknown };

/** An authorization server on this machine; tests sign the tokens, or get them as a person does. */
export class Issuer {
  readonly url: string;
  readonly grants: IssuerGrants;
  /** The claims of the person who signs in; undefined leaves one out. */
  person: Claims = {};
  /** Requests for keys so far. */
  requests = 0;
  /** Whether requests for keys fail. */
  down = false;
  /** Sent instead of the keys. */
  instead: string | undefined;
  readonly #server: Server;
  readonly #keys = new Map<string, Pair>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.grants = new IssuerGrants(this.url);
  }

  static async start(): Promise<Issuer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = new Issuer(server);
    server.on('request', async (request, response) => {
      const granted = await issuer.#granted(request);
      if (granted) {
        const { status, location, body = {} } = granted;
        response.writeHead(status, {
          'Content-Type': 'application/json',
          ...(location !== undefined && { Location: location }),
        });
        response.end(JSON.stringify(body));
        return;
      }
      const body = await issuer.#document(request.url ?? '');
      response.statusCode = body === undefined ? 404 : issuer.down ? 500 : 200;
      response.setHeader('Content-Type', 'application/json');
      response.end(body);
    });
    await issuer.addKey('first');
    return issuer;
  }

  async addKey(kid: string): Promise<void> {
    this.#keys.set(kid, await generateKeyPair('ES256', { extractable: true }));
  }

  removeKey(kid: string): void {
    this.#keys.delete(kid);
  }

  key(kid: string): Pair['privateKey'] {
    return this.#pair(kid).privateKey;
  }

  publicKey(kid: string): Pair['publicKey'] {
    return this.#pair(kid).publicKey;
  }

  #pair(kid: string): Pair {
    const pair = this.#keys.get(kid);
    if (!pair) throw new Error(`no key ${kid}`);
    return pair;
  }

  /** Signs a token that expires in an hour; `claims` replace its claims. */
  token(audience: string, claims: Claims = {}, kid = 'first', key = this.key(kid)) {
    const now = Math.floor(Date.now() / 1000);
    const all = {
      iss: this.url,
      aud: audience,
      sub: 'alice',
      name: 'Alice Example',
      email: 'alice@example.com',
      scope: 'openid memory:write',
      iat: now,
      exp: now + 3_600,
      ...claims,
    };
    return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid }).sign(key);
  }

  close(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #granted(request: IncomingMessage): Promise<GrantAnswer | undefined> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    if (pathname === '/authorize') return this.grants.authorize(searchParams);
    if (pathname !== '/token') return undefined;
    const form = new URLSearchParams(await text(request));
    return this.grants.exchange(form, request.headers.authorization, (asked) =>
      this.#tokensFor(asked),
    );
  }

  async #tokensFor({
    resource = '',
    scope = '',
    nonce,
  }: Readonly<Record<string, string>>): Promise<GrantedTokens> {
    const access_token = await this.token(resource, { scope, ...this.person });
    if (nonce === undefined) return { access_token };
    const { client, nonce: own = nonce } = this.grants;
    return { access_token, id_token: await this.token(client.id, { nonce: own }) };
  }

  async #document(path: string): Promise<string | undefined> {
    if (path === '/.well-known/openid-configuration') {
      const { metadata } = this.grants;
      return JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys`, ...metadata });
    }
    if (path !== '/keys') return undefined;
    this.requests += 1;
    if (this.instead !== undefined) return this.instead;
    const keys = [...this.#keys].map(async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg: 'ES256',
      use: 'sig',
    }));
    return JSON.stringify({ keys: await Promise.all(keys) });
  }
}
