import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

/** Claims of a token; undefined leaves one out. */
export type Claims = { readonly [name: string]: unknown };

/** An authorization server on this machine, which only publishes keys; tests sign the tokens. */
export class Issuer {
  readonly url: string;
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
  }

  static async start(): Promise<Issuer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = new Issuer(server);
    server.on('request', async (request, response) => {
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

  async #document(path: string): Promise<string | undefined> {
    if (path === '/.well-known/openid-configuration') {
      return JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys` });
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
