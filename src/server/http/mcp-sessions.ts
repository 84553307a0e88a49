import type { RequestHandler } from 'express';
import type { App } from '../../app.ts';
import { connectHttp, type HttpConnection } from '../mcp.ts';
import { errorResponse } from '../stdio.ts';
import { HttpError } from './error.ts';
import { EventLog } from './event-log.ts';
import { maxBodyBytes } from './guards.ts';

/** A session that is not used for this long ends when another one begins, in milliseconds. */
const maxIdle = 60 * 60 * 1000;

/** At most this many sessions are open at once. */
const maxOpen = 200;

/** What MCP clients know a session by that has ended: they then begin another one. */
const sessionNotFound = -32001;

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
  readonly #open = new Map<string, McpSession>();

  /** @param folders where clients may go beside the project that is served. */
  constructor(app: App, version: string, folders: readonly string[]) {
    this.#app = app;
    this.#version = version;
    this.#folders = folders;
  }

  /** Answers a request to `/mcp`. */
  readonly handle: RequestHandler = async (request, response) => {
    const { account } = response.locals.caller;
    const id = request.get('mcp-session-id');
    const session = id === undefined ? await this.#begin(account) : this.#open.get(id);
    if (session?.account !== account) {
      // Whether somebody else has a session with this id is nobody's business.
      response.status(404).json(errorResponse(null, sessionNotFound, 'Session not found'));
      return;
    }
    session.requests += 1;
    response.once('close', () => {
      session.requests -= 1;
      session.used = Date.now();
    });
    await session.connection.handle(request, response);
    // What asked for no session has begun none.
    if (session.id === undefined) await session.connection.close();
  };

  /** Ends the streams that have no end of their own. */
  endStreams(): void {
    for (const { connection } of this.#open.values()) connection.endStream();
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    for (const { connection } of this.#open.values()) await connection.close();
  }

  async #begin(account: string): Promise<McpSession> {
    await this.#makeRoom();
    const connection = await connectHttp(this.#app, this.#version, {
      events: new EventLog(),
      maxBytes: maxBodyBytes,
      folders: this.#folders,
      opened: (id) => {
        session.id = id;
        this.#open.set(id, session);
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
    return session;
  }

  async #makeRoom(): Promise<void> {
    const idle = [...this.#open.values()]
      .filter(({ requests }) => requests === 0)
      .sort((a, b) => a.used - b.used);
    const excess = this.#open.size - maxOpen + 1;
    if (excess > idle.length) throw new HttpError(503, 'Too many MCP sessions are open.');
    for (const [i, { connection, used }] of idle.entries()) {
      if (i < excess || used < Date.now() - maxIdle) await connection.close();
    }
  }
}
