import { type GitHttpRequest, type GitHttpResponse, GitRemoteHTTP } from 'isomorphic-git/managers';
import { MemoryError } from '../core/error.ts';
import type { Oid } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { writePack } from './pack-file.ts';
import { isTaken, type Push, type Remote } from './remote.ts';
import { newObjects } from './tree-diff.ts';
import { pushRequest, readPack, readReport, wantRequest } from './wire.ts';

/** What is read of one answer at most, in bytes: a pack is kept in memory while it is looked through. */
export const maxAnswer = 256 * 1024 * 1024;
/** How long a server may take to say which branches it has, in milliseconds. */
const patience = 30_000;

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The branches of a remote, and what the server knows. */
interface Advertisement {
  readonly refs: ReadonlyMap<string, Oid>;
  readonly capabilities: ReadonlySet<string>;
  /** How the server was told who asks. */
  readonly auth: object;
}

type Service = 'git-upload-pack' | 'git-receive-pack';

/** A remote that speaks HTTP (gitprotocol-http). */
export class HttpRemote implements Remote {
  readonly #odb: ObjectDatabase;
  readonly #shallow: readonly Oid[];
  readonly #credentials: Credentials | undefined;
  /** Without user and password. */
  #url: string;

  /**
   * @param env where `MEMORY_BANK_GIT_CREDENTIALS` is looked up.
   * @param shallow the commits at which the clone ends.
   */
  constructor(url: URL, odb: ObjectDatabase, shallow: readonly Oid[], env: NodeJS.ProcessEnv) {
    this.#odb = odb;
    this.#shallow = shallow;
    this.#credentials = credentialsFor(url, env);
    const bare = new URL(url);
    bare.username = '';
    bare.password = '';
    this.#url = bare.href.replace(/\/$/, '');
  }

  async fetch(ref: string, known: readonly Oid[], signal: AbortSignal): Promise<Oid | undefined> {
    const service = 'git-upload-pack';
    const { refs, capabilities, auth } = await this.#discover(service, signal);
    const tip = refs.get(ref);
    if (tip === undefined || known.includes(tip)) return tip;
    const body = wantRequest(tip, known, this.#shallow, capabilities);
    const answer = await this.#connect(service, body, auth, signal);
    await this.#odb.addPack(readPack(answer, capabilities));
    return tip;
  }

  async push({ ref, from, to, commits }: Push, signal: AbortSignal): Promise<boolean> {
    const service = 'git-receive-pack';
    const { refs, capabilities, auth } = await this.#discover(service, signal);
    if (refs.get(ref) !== from) return false;
    const pack = writePack([...newObjects(this.#odb, commits)].map((oid) => this.#odb.read(oid)));
    const body = pushRequest(ref, from, to, pack, capabilities);
    const answer = await this.#connect(service, body, auth, signal);
    return isTaken(this.#url, readReport(answer, capabilities));
  }

  async #discover(service: Service, signal: AbortSignal): Promise<Advertisement> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
    return this.#speak(signal, () =>
      GitRemoteHTTP.discover({
        http: { request: (request: GitHttpRequest) => this.#request(request, limited, service) },
        onAuth: () => this.#credentials ?? { cancel: true },
        service,
        url: this.#url,
        headers: {},
        protocolVersion: 1,
      }),
    );
  }

  async #connect(
    service: Service,
    body: Buffer,
    auth: object,
    signal: AbortSignal,
  ): Promise<Buffer> {
    const answer = await this.#speak(signal, () =>
      GitRemoteHTTP.connect({
        http: { request: (request: GitHttpRequest) => this.#request(request, signal) },
        service,
        url: this.#url,
        body,
        auth,
        headers: {},
      }),
    );
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body ?? []) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** @param service where the branches are asked for: only then may the address change. */
  async #request(
    request: GitHttpRequest,
    signal: AbortSignal,
    service?: Service,
  ): Promise<GitHttpResponse> {
    const { url, method = 'GET', headers = {} } = request;
    // What it is told to post it hands on as it is.
    const body = Buffer.isBuffer(request.body) ? request.body : null;
    const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' });
    const moved = service && movedTo(url, response, `/info/refs?service=${service}`);
    if (moved !== undefined) {
      this.#url = moved;
      const again = { ...request, url: `${moved}/info/refs?service=${service}` };
      return this.#request(again, signal);
    }
    return {
      url,
      method,
      statusCode: response.status,
      statusMessage: response.statusText,
      headers: Object.fromEntries(response.headers),
      body: once(await bodyOf(response)),
    };
  }

  /** Asks the server something; what goes wrong is told without any secret. */
  async #speak<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MemoryError) throw error;
      throw failure(this.#url, error, this.#credentials !== undefined);
    }
  }
}

/** The user and password in an address, else those for its host in the environment. */
function credentialsFor(url: URL, env: NodeJS.ProcessEnv): Credentials | undefined {
  const known = (env.MEMORY_BANK_GIT_CREDENTIALS ?? '')
    .split(/\s+/)
    .flatMap((text) => (URL.canParse(text) ? [new URL(text)] : []))
    .find(({ origin, username }) => {
      const user = url.username === '' || url.username === username;
      return origin === url.origin && user;
    });
  const source = url.password === '' ? known : url;
  return (
    source && {
      username: decodeURIComponent(source.username),
      password: decodeURIComponent(source.password),
    }
  );
}

/** Where a server has moved to, as long as it is the same host and no less secret. */
function movedTo(url: string, response: Response, ending: string): string | undefined {
  const location = response.headers.get('location');
  if (response.status < 300 || response.status > 399 || location === null) return undefined;
  const [from, to] = [new URL(url), new URL(location, url)];
  const upgraded = from.protocol === 'http:' && to.protocol === 'https:';
  const isSafe = to.origin === from.origin || (upgraded && to.hostname === from.hostname);
  return isSafe && to.href.endsWith(ending) ? to.href.slice(0, -ending.length) : undefined;
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function bodyOf(response: Response): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    size += piece.length;
    if (size > maxAnswer) {
      throw new MemoryError('too_large', 'The remote has more to send than sync takes at once.', {
        hint: 'Run "git fetch" and then sync again.',
        data: { limit: maxAnswer },
      });
    }
  }
  return Buffer.concat(pieces);
}

function failure(url: string, error: unknown, hasCredentials: boolean): MemoryError {
  const { data, code, cause, name } = toFacts(error);
  const status = data?.statusCode;
  if (code === 'UserCanceledError' || status === 401 || status === 403) {
    const what = hasCredentials ? 'does not accept the credentials' : 'asks for credentials';
    return new MemoryError('remote', `${url} ${what}.`, {
      hint: 'Set MEMORY_BANK_GIT_CREDENTIALS to https://user:token@host, with a token that may push.',
      data: { status: status ?? 401 },
    });
  }
  if (status !== undefined) {
    const hint =
      status === 404
        ? 'There is no repository, or none without credentials.'
        : 'Nothing was changed.';
    return new MemoryError('remote', `${url} answers with status ${status}.`, {
      hint,
      data: { status },
    });
  }
  const timeout = name === 'TimeoutError';
  const reason = timeout ? 'it takes too long to answer' : (cause?.code ?? cause?.message ?? code);
  return new MemoryError('remote', `${url} cannot be reached: ${reason ?? 'no answer'}.`, {
    hint: 'Nothing was changed. Try again.',
    cause: error,
  });
}

/** What is known of an error of isomorphic-git, or of a request. */
function toFacts(error: unknown) {
  return error as {
    readonly code?: string;
    readonly name?: string;
    readonly data?: { readonly statusCode?: number };
    readonly cause?: { readonly code?: string; readonly message?: string };
  };
}
