import * as oauth from 'oauth4webapi';
import * as z from 'zod';
import { isSecure } from '../server/address.ts';
import { HttpError } from '../server/http-error.ts';
import { boundedFetch, IssuerMetadata, requestTimeout } from './issuer-metadata.ts';

/** The pause after a failed request for the metadata, in milliseconds. */
const cooldown = 10_000;

/** The longest text of the authorization server that a message repeats, in characters. */
const maxQuoted = 300;

/** The window as a client of the authorization server. */
export interface WindowClient {
  readonly id: string;
  /** Its secret; undefined for a public client. */
  readonly secret?: string | undefined;
  /** The scopes that a sign-in asks for, with spaces between them. */
  readonly scope: string;
}

/** A client at its authorization server. */
export interface GrantSettings {
  readonly issuer: string;
  readonly client: WindowClient;
  /** Where the authorization server sends the browser afterwards. */
  readonly redirectUri: string;
  /** The resource that the token is for (RFC 8707); undefined where the audience is not a URL. */
  readonly resource: string | undefined;
}

/** A request for authorization that a browser takes to the authorization server. */
export interface GrantRequest {
  readonly location: string;
  readonly state: string;
  /** The secret of PKCE, which the browser never gets. */
  readonly verifier: string;
  /** The value that an ID token has to repeat; undefined if none is asked for. */
  readonly nonce: string | undefined;
}

/** The parts of the metadata that a grant needs; a part that cannot be used counts as missing. */
const grantMetadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string().refine(isSecure),
  token_endpoint: z.string().refine(isSecure),
  token_endpoint_auth_methods_supported: z.array(z.string()).exactOptional().catch([]),
  code_challenge_methods_supported: z.array(z.string()).exactOptional().catch([]),
  id_token_signing_alg_values_supported: z.array(z.string()).exactOptional().catch([]),
  authorization_response_iss_parameter_supported: z.boolean().exactOptional().catch(false),
});

type GrantMetadata = z.output<typeof grantMetadata>;

/** Gets access tokens of people by the authorization code grant of OAuth 2.1, with PKCE. */
export class CodeGrant {
  readonly #name: string;
  readonly #settings: GrantSettings;
  readonly #metadata: IssuerMetadata;

  constructor(settings: GrantSettings) {
    this.#name = new URL(settings.issuer).host;
    this.#settings = settings;
    this.#metadata = new IssuerMetadata(settings.issuer, cooldown);
  }

  /**
   * Begins a grant.
   *
   * @throws HttpError 503 if the metadata of the authorization server cannot be read, 502 if it cannot
   *   be used.
   */
  async begin(): Promise<GrantRequest> {
    const { client, redirectUri, resource } = this.#settings;
    const metadata = await this.#usableMetadata();
    const state = oauth.generateRandomState();
    const verifier = oauth.generateRandomCodeVerifier();
    const withIdToken = client.scope.split(' ').includes('openid');
    const nonce = withIdToken ? oauth.generateRandomNonce() : undefined;
    const location = new URL(metadata.authorization_endpoint);
    const parameters = {
      response_type: 'code',
      client_id: client.id,
      redirect_uri: redirectUri,
      scope: client.scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource,
      nonce,
    };
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) location.searchParams.set(name, value);
    }
    return { location: location.href, state, verifier, nonce };
  }

  /**
   * Exchanges the code of the answer for an access token; any other token of the answer is dropped.
   *
   * @param answer the parameters with which the authorization server has sent the browser back.
   * @throws HttpError with the reason; it contains neither the code nor a token.
   */
  async redeem(request: GrantRequest, answer: URLSearchParams): Promise<string> {
    const { client: own, redirectUri, resource } = this.#settings;
    const metadata = await this.#usableMetadata();
    const client = { client_id: own.id };
    try {
      const checked = oauth.validateAuthResponse(metadata, client, answer, request.state);
      const response = await oauth.authorizationCodeGrantRequest(
        metadata,
        client,
        clientAuth(own, metadata),
        checked,
        redirectUri,
        request.verifier,
        {
          ...(resource !== undefined && { additionalParameters: { resource } }),
          signal: AbortSignal.timeout(requestTimeout),
          [oauth.customFetch]: boundedFetch,
          // Only an address of this machine is allowed without TLS.
          [oauth.allowInsecureRequests]: metadata.token_endpoint.startsWith('http:'),
        },
      );
      const { access_token: token, token_type: type } =
        await oauth.processAuthorizationCodeResponse(metadata, client, response, {
          expectedNonce: request.nonce ?? oauth.expectNoNonce,
        });
      if (type === 'bearer') return token;
      throw new HttpError(502, `${this.#name} has sent a token of the type ${quoted(type)}.`);
    } catch (thrown) {
      throw this.#toHttpError(thrown, answer.get('code') ?? '');
    }
  }

  async #usableMetadata(): Promise<GrantMetadata> {
    const document = await this.#metadata.read().catch((cause: unknown) => {
      throw this.#unreachable(cause);
    });
    const { data } = grantMetadata.safeParse(document);
    const { code_challenge_methods_supported: methods = [] } = data ?? {};
    if (data && (methods.length === 0 || methods.includes('S256'))) return data;
    const needed = 'the authorization code grant with PKCE (S256), by addresses with https';
    throw new HttpError(502, `The metadata of ${this.#name} does not offer ${needed}.`);
  }

  #unreachable(cause: unknown): HttpError {
    const message = `${this.#name} does not answer as expected. Try again in a moment.`;
    const error = new HttpError(503, message, { 'Retry-After': '10' });
    error.cause = cause;
    return error;
  }

  #refused(reason: string): HttpError {
    const advice = 'The administrator has to check the client id, its secret and its scopes.';
    return new HttpError(502, `${this.#name} refuses this server: ${reason}. ${advice}`);
  }

  /** @param code is left out of the message. */
  #toHttpError(thrown: unknown, code: string): HttpError {
    if (thrown instanceof HttpError) return thrown;
    const reasonOf = (error: string, text = '') => {
      const reason = text === '' ? error : `${error} (${text})`;
      return quoted(code === '' ? reason : reason.replaceAll(code, '…'));
    };
    if (thrown instanceof oauth.AuthorizationResponseError) {
      const { error, error_description: text } = thrown;
      return new HttpError(403, `${this.#name} has refused the sign-in: ${reasonOf(error, text)}.`);
    }
    if (thrown instanceof oauth.ResponseBodyError) {
      const { error, error_description: text } = thrown;
      const reason = reasonOf(error, text);
      if (error !== 'invalid_grant') return this.#refused(reason);
      return new HttpError(400, `${this.#name} no longer accepts this sign-in: ${reason}.`);
    }
    if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
      return this.#refused(`status ${thrown.status}`);
    }
    if (
      thrown instanceof oauth.OperationProcessingError ||
      thrown instanceof oauth.UnsupportedOperationError
    ) {
      return new HttpError(502, `The answer of ${this.#name} cannot be used: ${thrown.message}.`);
    }
    return this.#unreachable(thrown);
  }
}

/** Returns the way in which a client proves its identity: by its secret, in the body or the header. */
function clientAuth(
  { secret }: WindowClient,
  { token_endpoint_auth_methods_supported: methods = [] }: GrantMetadata,
): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  // Servers differ in whether they decode a secret in the header.
  const inBody = methods.includes('client_secret_post');
  return inBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

/** Returns a text of the authorization server in one line of limited length. */
function quoted(text: string): string {
  const line = [
    ...text
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim()
      .replace(/\.$/, ''),
  ];
  return line.length > maxQuoted ? `${line.slice(0, maxQuoted).join('')}…` : line.join('');
}
