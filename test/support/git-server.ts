import { execFileSync, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Authority } from './authority.ts';
import { gitEnv } from './repo.ts';

/**
 * A fault of one request.
 *
 * `kill`: git dies after half of the request. `lose answer`: git does the work, and the connection ends
 * before the answer. `cut answer`, `change answer`: half of the answer arrives, or one byte of it is another
 * one. `hang`: no answer at all.
 */
export type RequestFault = 'kill' | 'lose answer' | 'cut answer' | 'change answer' | 'hang';

/** The folder with the parts of git, which the backend needs if it is not started by git. */
const execPath = execFileSync('git', ['--exec-path']).toString().trim();

/** The program itself: the signal that ends `git http-backend` would not reach it. Windows has no signals. */
const [backend, ...backendArgs]: readonly [string, ...string[]] =
  process.platform === 'win32' ? ['git', 'http-backend'] : [join(execPath, 'git-http-backend')];

/** Serves the bare repositories of a folder over HTTP with native git (`git http-backend`). */
export class GitServer {
  /** Required `user:password`; undefined for anonymous access. */
  credentials: string | undefined;
  /** `user:password` that may read, and not push. */
  reader: string | undefined;
  /** Called before the answer to each request. */
  onRequest: ((url: string) => void) | undefined;
  /** Selects the fault of a request. */
  fault: ((method: string, url: string) => RequestFault | undefined) | undefined;
  /** The folder of the repositories that the next requests see. */
  root: string;
  /** Requests so far. */
  readonly requests: string[] = [];
  readonly #server: Server;

  readonly #scheme: string;

  private constructor(root: string, authority: Authority | undefined) {
    this.root = root;
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      this.#answer(request, response);
    this.#server = authority ? createSecureServer(authority, answer) : createServer(answer);
    this.#scheme = authority ? 'https' : 'http';
  }

  /** @param authority with a certificate for TLS; without it, the server speaks plain HTTP. */
  static async start(root: string, authority?: Authority): Promise<GitServer> {
    const server = new GitServer(root, authority);
    await new Promise<void>((done) => server.#server.listen(0, '127.0.0.1', done));
    return server;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** URL of a repository. */
  url(name: string, user = ''): string {
    return `${this.#scheme}://${user === '' ? '' : `${user}@`}${this.host}/${name}`;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(() => done()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/' } = request;
    this.requests.push(`${method} ${url}`);
    this.onRequest?.(url);
    const [path = '', query = ''] = url.split('?');
    const given = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64').toString();
    if (this.credentials !== undefined && given !== this.credentials) {
      const isPush = url.includes('git-receive-pack');
      if (this.reader === undefined || given !== this.reader) {
        response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end('no');
        return;
      }
      if (isPush) {
        response.writeHead(403).end('not for you');
        return;
      }
    }
    const fault = this.fault?.(method, url);
    if (fault === 'hang') return;
    const child = spawn(backend, backendArgs, {
      env: {
        ...gitEnv,
        GIT_EXEC_PATH: execPath,
        GIT_PROJECT_ROOT: this.root,
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: method,
        PATH_INFO: decodeURIComponent(path),
        QUERY_STRING: query,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        ...(request.headers['content-length'] && {
          CONTENT_LENGTH: request.headers['content-length'],
        }),
        // Git compresses a request with many commits, and asks for the current protocol.
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REMOTE_USER: 'tester',
        REMOTE_ADDR: '127.0.0.1',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdin.on('error', () => {});
    // At an early end of its input, git http-backend reads for ever.
    request.on('close', () => {
      if (!request.complete) child.kill('SIGKILL');
    });
    if (fault === 'kill') {
      const input: Buffer[] = [];
      request.on('data', (piece: Buffer) => input.push(piece));
      request.on('end', () => {
        const all = Buffer.concat(input);
        child.stdin.write(all.subarray(0, Math.floor(all.length / 2)), () => child.kill('SIGKILL'));
      });
    } else request.pipe(child.stdin);
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.on('close', () => {
      const all = Buffer.concat(pieces);
      if (fault === 'kill' || fault === 'lose answer') {
        response.destroy();
        return;
      }
      const end = all.indexOf('\r\n\r\n');
      const headers = all.toString('latin1', 0, end).split('\r\n');
      let status = 200;
      for (const line of headers) {
        const [name = '', value = ''] = line.split(/: (.*)/);
        if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
        else if (name !== '') response.setHeader(name, value);
      }
      const body = Buffer.from(all.subarray(end + 4));
      const middle = Math.floor(body.length / 2);
      if (fault === 'change answer') body.writeUInt8((body[middle] ?? 0) ^ 0x55, middle);
      if (fault === 'cut answer') {
        response.writeHead(status, { 'Content-Length': body.length });
        response.write(body.subarray(0, middle), () => response.destroy());
      } else response.writeHead(status).end(body);
    });
  }
}
