import { createHash } from 'node:crypto';

/** The answer of an authorization server for one address. */
export interface GrantAnswer {
  readonly status: number;
  readonly location?: string;
  readonly body?: object;
}

/** The tokens that an exchange returns. */
export interface GrantedTokens {
  readonly access_token: string;
  readonly id_token?: string;
}

/** A code that was given to a browser, with the request for it. */
type Request = Readonly<Record<string, string>>;

/** The authorization code grant of a fake authorization server, in which one person always agrees. */
export class IssuerGrants {
  /** The client that it knows; without a secret it is a public one. */
  client: { readonly id: string; readonly secret?: string } = { id: 'window' };
  /** The ways in which a client may send its secret, as the metadata lists them. */
  ways: readonly string[] | undefined;
  /** Sent to the browser instead of a code. */
  refusal: { readonly error: string; readonly error_description?: string } | undefined;
  /** The `iss` of its answers to the browser. */
  answersAs: string;
  /** The nonce of its ID tokens; undefined for the right one. */
  nonce: string | undefined;
  /** Sent by the token endpoint instead of tokens. */
  failure: { readonly status: number; readonly body: object } | undefined;
  /** The requests for authorization and for tokens so far. */
  readonly asked: Request[] = [];
  readonly redeemed: Request[] = [];
  /** The codes and tokens that it has given. */
  readonly secrets: string[] = [];
  readonly #issuer: string;
  readonly #codes = new Map<string, Request>();

  constructor(issuer: string) {
    this.#issuer = issuer;
    this.answersAs = issuer;
  }

  get metadata() {
    return {
      authorization_endpoint: `${this.#issuer}/authorize`,
      token_endpoint: `${this.#issuer}/token`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      id_token_signing_alg_values_supported: ['ES256'],
      ...(this.ways && { token_endpoint_auth_methods_supported: this.ways }),
    };
  }

  /** Sends a browser back with a code. */
  authorize(query: URLSearchParams): GrantAnswer {
    const request = Object.fromEntries(query);
    this.asked.push(request);
    const { redirect_uri = '', state = '', code_challenge_method: method } = request;
    if (request.client_id !== this.client.id || method !== 'S256') return { status: 400 };
    const back = new URL(redirect_uri);
    const code = `code-${this.asked.length}-of-the-fake-issuer`;
    this.#codes.set(code, request);
    this.secrets.push(code);
    const answer = { ...(this.refusal ?? { code }), state, iss: this.answersAs };
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
    return { status: 302, location: back.href };
  }

  /** Exchanges a code, once and for its client only. */
  async exchange(
    form: URLSearchParams,
    authorization: string | undefined,
    tokensFor: (request: Request) => Promise<GrantedTokens>,
  ): Promise<GrantAnswer> {
    const sent = Object.fromEntries(form);
    this.redeemed.push(sent);
    if (this.failure) return this.failure;
    if (!this.#isKnown(sent, authorization))
      return { status: 401, body: { error: 'invalid_client' } };
    const request = this.#codes.get(sent.code ?? '');
    this.#codes.delete(sent.code ?? '');
    const challenge = createHash('sha256')
      .update(sent.code_verifier ?? '')
      .digest('base64url');
    const isRight =
      request?.code_challenge === challenge && request.redirect_uri === sent.redirect_uri;
    if (!request || !isRight) {
      return { status: 400, body: { error: 'invalid_grant', error_description: sent.code } };
    }
    const tokens = await tokensFor(request);
    const refresh = { refresh_token: 'refresh-token-of-the-fake-issuer' };
    this.secrets.push(...Object.values(tokens), ...Object.values(refresh));
    return {
      status: 200,
      body: { token_type: 'Bearer', expires_in: 3_600, ...tokens, ...refresh },
    };
  }

  #isKnown(sent: Request, authorization: string | undefined): boolean {
    const { id, secret } = this.client;
    if (secret === undefined) return sent.client_id === id;
    if (this.ways?.includes('client_secret_post')) return sent.client_secret === secret;
    const [, encoded = ''] = /^Basic (.*)$/.exec(authorization ?? '') ?? [];
    // Each half is encoded as in a form.
    const halves = Buffer.from(encoded, 'base64').toString().replaceAll('+', ' ').split(':');
    return halves.map(decodeURIComponent).join('\n') === `${id}\n${secret}`;
  }
}
