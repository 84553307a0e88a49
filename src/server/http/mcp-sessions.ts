import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { App } from '../../app/app.ts';
import { connectHttp, type HttpConnection } from '../mcp/mcp.ts';
import { errorResponse, parseError } from '../mcp/stdio.ts';
import type { Backlog } from './backlog.ts';
import { EventLog } from './event-log.ts';
import { maxBodyBytes } from './guards.ts';
import { HttpError, toHttpError } from './http-error.ts';

/** A session that is not used for this long ends when another one begins, in milliseconds. */
const maxIdle = 60 * 60 * 1000;

/** At most this many sessions are open at once. */
const maxOpen = 200;

/** At most this many of them belong to one caller. */
const maxShare = 50;

/** Seconds after which a refused client may retry. */
const retryAfter = '10';

/** What MCP clients know a session by that has ended: they then begin another one. */
const sessionNotFound = -32001;

/** What the transport itself calls every other fault of a request. */
const serverError = -32000;

interface McpSession {
  /** Undefined until the client has begun it. */
  id: string | undefined;
  readonly connection: HttpConnection;
  /** Who may use it. */
  readonly account: string;
  /** The requests that are not answered to the end, an open stream among them. */
  requests: number;
  /** When the last of them ended. */
  used: number;
}

/** The MCP sessions over Streamable HTTP, by `Mcp-Session-Id`. */
export class McpSessions {
  readonly #app: App;
  readonly #version: string;
  readonly #folders: readonly string[];
  readonly #backlog: Backlog;
  readonly #open = new Map<string, McpSession>();
  /** The sessions that a client is about to begin. */
  readonly #beginning = new Set<{ readonly account: string }>();

  /** @param folders where clients may go beside the project that is served. */
  constructor(app: App, version: string, folders: readonly string[], backlog: Backlog) {
    this.#app = app;
    this.#version = version;
    this.#folders = folders;
    this.#backlog = backlog;
  }

  /** Refuses a request to `/mcp` for a session that there is not, before its body is read. */
  readonly find: RequestHandler = (request, response, next) => {
    const id = request.get('mcp-session-id');
    if (id === undefined || this.#owned(id, response.locals.caller.account)) next();
    // Whether somebody else has a session with this id is nobody's business.
    else response.status(404).json(errorResponse(null, sessionNotFound, 'Session not found'));
  };

  /** Answers a request to `/mcp`. */
  readonly handle: RequestHandler = async (request, response, next) => {
    const { account } = response.locals.caller;
    const id = request.get('mcp-session-id');
    if (id === undefined) return this.#begin(account, request, response);
    const session = this.#owned(id, account);
    // It may have ended while the body was read.
    if (!session) return this.find(request, response, next);
    await this.#serve(session, request, response);
  };

  /** Ends the streams that have no end of their own. */
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

  async #begin(account: string, request: Request, response: Response): Promise<void> {
    const place = { account };
    const evicted = this.#makeRoom(account);
    // Taken before anything is awaited, so that clients that begin at once cannot exceed the limit.
    this.#beginning.add(place);
    try {
      await Promise.all(evicted.map(({ connection }) => connection.close()));
      const connection = await connectHttp(this.#app, this.#version, {
        events: new EventLog(),
        maxBytes: maxBodyBytes,
        folders: this.#folders,
        admits: (response, bytes) => this.#backlog.admits(response, bytes),
        opened: (id) => {
          session.id = id;
          this.#open.set(id, session);
          this.#beginning.delete(place);
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
      // What asked for no session has begun none.
      if (session.id === undefined) await connection.close();
    } finally {
      this.#beginning.delete(place);
    }
  }

  /**
   * Takes the sessions out that end for a new one: of its caller where that has its share, else of all.
   *
   * @throws HttpError where all of them are in use.
   */
  #makeRoom(account: string): McpSession[] {
    const places = [...this.#open.values(), ...this.#beginning];
    const own = places.filter((place) => place.account === account).length;
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
        `All ${maxShare} MCP sessions of this caller are in use; end one with DELETE.`,
        { 'Retry-After': retryAfter },
      );
    }
    evict(ownIdle, own - maxShare + 1);
    if (places.length - idle.length >= maxOpen) {
      throw new HttpError(503, 'Too many MCP sessions are open.', { 'Retry-After': retryAfter });
    }
    const left = idle.filter((session) => !evicted.has(session));
    evict(left, places.length - evicted.size - maxOpen + 1);
    for (const { id } of evicted) if (id !== undefined) this.#open.delete(id);
    return [...evicted];
  }
}

/** Answers a body that cannot be read in the form of the protocol. */
export const refuseBody: ErrorRequestHandler = (thrown, _request, response, next) => {
  const { status, message, headers } = toHttpError(thrown);
  if (status >= 500) return next(thrown);
  const invalidJson = Object(thrown).type === 'entity.parse.failed';
  const text = invalidJson ? 'Parse error: Invalid JSON' : message;
  const code = status === 400 ? parseError : serverError;
  response
    .status(status)
    .set(headers)
    .json(errorResponse(null, code, text));
};
