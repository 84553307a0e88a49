import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { App } from '../../../app/app.ts';
import { connectHttp, type HttpConnection } from '../../mcp/legacy-http.ts';
import { refuse } from '../../mcp/modern-server.ts';
import { RpcError } from '../../mcp/rpc-error.ts';
import { errorResponse, invalidRequest, parseError } from '../../mcp/stdio.ts';
import type { Backlog } from '../server/backlog.ts';
import { EventLog } from '../server/event-log.ts';
import { HttpError, toHttpError } from '../server/http-error.ts';
import { maxBodyBytes } from '../server/limits.ts';
import { isModernHead } from './modern-mcp.ts';

/** The idle time in milliseconds after which a session ends when another one begins. */
const maxIdle = 60 * 60 * 1000;

/** The limit of open sessions. */
export const maxOpen = 200;

/** The limit of open sessions of one caller. */
export const maxShare = 50;

/** Seconds after which a refused client may retry. */
const retryAfter = '10';

/** The error code of an unknown session, at which MCP clients begin another one. */
const sessionNotFound = -32001;

/** The error code that the SDK transport uses for all other bad requests. */
const serverError = -32000;

interface McpSession {
  /** Undefined until the session is initialized. */
  id: string | undefined;
  readonly connection: HttpConnection;
  /** The caller that may use it. */
  readonly account: string;
  /** The number of requests whose response is open, streams included. */
  requests: number;
  /** When the last response ended. */
  used: number;
}

/** The MCP sessions over Streamable HTTP, by `Mcp-Session-Id`. */
export class McpSessions {
  readonly #app: App;
  readonly #version: string;
  readonly #folders: readonly string[];
  readonly #backlog: Backlog;
  readonly #open = new Map<string, McpSession>();
  /** The sessions that are being initialized. */
  readonly #beginning = new Set<{ readonly account: string }>();

  /** @param folders where clients may go, in addition to the project that is served. */
  constructor(app: App, version: string, folders: readonly string[], backlog: Backlog) {
    this.#app = app;
    this.#version = version;
    this.#folders = folders;
    this.#backlog = backlog;
  }

  /** Refuses a request to `/mcp` with an unknown session id before its body is read. */
  readonly find: RequestHandler = (request, response, next) => {
    const id = request.get('mcp-session-id');
    if (id === undefined || this.#owned(id, response.locals.caller.account)) next();
    // The answer does not reveal whether another caller has a session with this id.
    else response.status(404).json(errorResponse(null, sessionNotFound, 'Session not found'));
  };

  /** Answers a request to `/mcp`. */
  readonly handle: RequestHandler = async (request, response, next) => {
    const { account } = response.locals.caller;
    const id = request.get('mcp-session-id');
    if (id === undefined) return this.#begin(request, response);
    const session = this.#owned(id, account);
    // The session may have ended while the body was read.
    if (!session) return this.find(request, response, next);
    await this.#serve(session, request, response);
  };

  /** The number of open sessions. */
  get size(): number {
    return this.#open.size;
  }

  /** Ends the open streams of notifications. */
  endStreams(): void {
    for (const { connection } of this.#open.values()) connection.endStream();
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    for (const { connection } of this.#open.values()) await connection.close();
  }

  #owned(id: string, account: string): McpSession | undefined {
    const session = this.#open.get(id);
    return session?.account === account ? session : undefined;
  }

  async #serve(session: McpSession, request: Request, response: Response): Promise<void> {
    session.requests += 1;
    response.once('close', () => {
      session.requests -= 1;
      session.used = Date.now();
    });
    this.#backlog.follow(response);
    await session.connection.handle(request, response, request.body);
  }

  async #begin(request: Request, response: Response): Promise<void> {
    const { account, author, mode } = response.locals.caller;
    const reservation = { account };
    const evicted = this.#makeRoom(account);
    // Reserved before the first await, so that concurrent requests cannot exceed the limit.
    this.#beginning.add(reservation);
    try {
      await Promise.all(evicted.map(({ connection }) => connection.close()));
      const connection = await connectHttp(this.#app, this.#version, {
        events: new EventLog(),
        maxBytes: maxBodyBytes,
        folders: this.#folders,
        author,
        onlyMode: mode,
        admission: (response, signal) => this.#backlog.admission(response, signal),
        track: (response, bytes) => this.#backlog.track(response, bytes),
        opened: (id) => {
          session.id = id;
          this.#open.set(id, session);
          this.#beginning.delete(reservation);
        },
        closed: () => {
          if (session.id !== undefined) this.#open.delete(session.id);
        },
      });
      const session: McpSession = {
        id: undefined,
        connection,
        account,
        requests: 0,
        used: Date.now(),
      };
      await this.#serve(session, request, response);
      // A request other than `initialize` has not begun a session.
      if (session.id === undefined) await connection.close();
    } finally {
      this.#beginning.delete(reservation);
    }
  }

  /**
   * Removes the sessions that have to end for a new one: those idle longest, of its caller first.
   *
   * @returns the removed sessions, which the caller closes.
   * @throws HttpError if all sessions are in use.
   */
  #makeRoom(account: string): McpSession[] {
    const taken = [...this.#open.values(), ...this.#beginning];
    const own = taken.filter((session) => session.account === account).length;
    const stale = Date.now() - maxIdle;
    const idle = [...this.#open.values()]
      .filter(({ requests }) => requests === 0)
      .sort((a, b) => a.used - b.used);
    const ownIdle = idle.filter((session) => session.account === account);
    const evicted = new Set(idle.filter(({ used }) => used < stale));
    const evict = (candidates: readonly McpSession[], excess: number) => {
      for (const session of candidates.slice(0, Math.max(0, excess))) evicted.add(session);
    };
    if (own - ownIdle.length >= maxShare) {
      throw new HttpError(
        429,
        `All ${maxShare} MCP sessions of this caller are in use. End one with DELETE /mcp.`,
        { 'Retry-After': retryAfter },
      );
    }
    evict(ownIdle, own - maxShare + 1);
    if (taken.length - idle.length >= maxOpen) {
      throw new HttpError(
        503,
        `All ${maxOpen} MCP sessions of this server are in use; retry later.`,
        { 'Retry-After': retryAfter },
      );
    }
    const left = idle.filter((session) => !evicted.has(session));
    evict(left, taken.length - evicted.size - maxOpen + 1);
    for (const { id } of evicted) if (id !== undefined) this.#open.delete(id);
    return [...evicted];
  }
}

/** Answers a body that cannot be read with a JSON-RPC error. */
export const refuseBody: ErrorRequestHandler = (thrown, request, response, next) => {
  const { status, message, headers } = toHttpError(thrown);
  if (status >= 500) return next(thrown);
  const invalidJson = Object(thrown).type === 'entity.parse.failed';
  const text = invalidJson ? 'Parse error: Invalid JSON' : message;
  const modern = isModernHead(request);
  const code = status === 400 ? parseError : modern ? invalidRequest : serverError;
  const body = modern
    ? refuse(undefined, new RpcError(code, text))
    : errorResponse(null, code, text);
  response.status(status).set(headers).json(body);
};
