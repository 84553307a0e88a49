import type { Request, RequestHandler } from 'express';
import type { App } from '../../../app/app.ts';
import { isObject } from '../../../core/values/json.ts';
import {
  checkVersion,
  idOf,
  isModern,
  type ModernRequest,
  modernRevision,
  readRequest,
} from '../../mcp/modern-request.ts';
import { ModernServer, missingCapability, refuse } from '../../mcp/modern-server.ts';
import { methodNotFound, RpcError } from '../../mcp/rpc-error.ts';
import { SessionHandles } from '../../mcp/session-handles.ts';
import { invalidRequest } from '../../mcp/stdio.ts';
import type { Backlog } from '../server/backlog.ts';
import { untilClosed } from '../server/endpoint.ts';
import { ResponseStream } from '../server/response-stream.ts';

/** The error code for headers that differ from the body. */
const headerMismatch = -32020;

/** The longest value that an error quotes, in characters. */
const maxQuoted = 100;

/** The status of an answer with an error; any other one is the answer of a method, with 200. */
const statuses = new Map([
  [methodNotFound, 404],
  [missingCapability, 400],
]);

/** The parameter that the header `Mcp-Name` repeats, by method. */
const named = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** Revision 2026-07-28 of MCP over HTTP: each request is a POST, and none belongs to a session. */
export class ModernMcp {
  readonly #server: ModernServer;
  readonly #backlog: Backlog;

  /** @param folders where clients may go, in addition to the project that is served. */
  constructor(app: App, version: string, folders: readonly string[], backlog: Backlog) {
    // The client may run on another machine, so its roots are not asked for.
    const connect = (onlyMode?: string) =>
      app.connect({ folders, onlyMode, isAgent: true, isOneCall: true });
    this.#server = new ModernServer(app, version, new SessionHandles(connect));
    this.#backlog = backlog;
  }

  /** Passes a request of an earlier revision on; refuses other methods than POST in this one. */
  readonly check: RequestHandler = (request, response, next) => {
    if (!isModernHead(request)) return next();
    if (request.method === 'POST') return next('route');
    const error = new RpcError(invalidRequest, `Revision ${modernRevision} allows POST only.`);
    response.status(405).set('Allow', 'POST').json(refuse(undefined, error));
  };

  /** Answers a message of this revision; passes any other on. */
  readonly handle: RequestHandler = async (request, response, next) => {
    const { body } = request;
    if (!isModernHead(request) && !isModern(body)) return next();
    if (isNotification(body)) return void response.status(202).end();
    let asked: ModernRequest;
    try {
      asked = readRequest(body);
      checkHeaders(request, asked);
      checkVersion(asked);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return void response.status(400).json(refuse(idOf(body), error));
    }
    if (!request.accepts('application/json') || !request.accepts('text/event-stream')) {
      const message = 'The client must accept application/json and text/event-stream.';
      const error = new RpcError(invalidRequest, message);
      return void response.status(406).json(refuse(asked.id, error));
    }
    const stream = new ResponseStream(response, this.#backlog);
    const { signal } = untilClosed(response);
    const answer = await this.#server.answer(asked, {
      signal,
      caller: response.locals.caller.account,
      author: response.locals.caller.author,
      onlyMode: response.locals.caller.mode,
      choosesProject: response.locals.choosesProject ?? false,
      admit: this.#backlog.admission(response, signal),
      send: (message) => stream.send(message),
    });
    if (answer) stream.end(answer, statuses.get(answer.error?.code ?? 0) ?? 200);
  };

  /** Whether this caller got a session handle of this project. */
  gave(handle: unknown, caller: string): boolean {
    return this.#server.gave(handle, caller);
  }

  /** Ends the open subscriptions. */
  endStreams(): void {
    this.#server.leave();
  }
}

/** Whether the headers name this revision or a later one, which the server then refuses. */
export function isModernHead(request: Request): boolean {
  const version = request.get('mcp-protocol-version');
  const earlier = version === undefined || /^\d{4}-\d\d-\d\d$/.test(version);
  return !earlier || (version ?? '') >= modernRevision;
}

function isNotification(message: unknown): boolean {
  return isObject(message) && typeof message.method === 'string' && message.id === undefined;
}

/** @throws RpcError if a header is missing, or differs from the body. */
function checkHeaders(request: Request, { version, method, params }: ModernRequest): void {
  compare('MCP-Protocol-Version', request.get('mcp-protocol-version'), version);
  compare('Mcp-Method', request.get('mcp-method'), method);
  const name = params[named.get(method) ?? ''];
  // A name that is not a string is refused by its method.
  if (typeof name === 'string') compare('Mcp-Name', decoded(request.get('mcp-name')), name);
}

function compare(header: string, value: string | undefined, expected: string): void {
  if (value === expected) return;
  const quoted = JSON.stringify((value ?? '').slice(0, maxQuoted));
  const problem = value === undefined ? 'is missing or cannot be decoded' : `is ${quoted}`;
  const body = JSON.stringify(expected.slice(0, maxQuoted));
  throw new RpcError(headerMismatch, `The header ${header} ${problem}, but the body has ${body}.`);
}

/** Returns the value of a header that may be in Base64; undefined for one that is not valid. */
function decoded(value: string | undefined): string | undefined {
  if (value === undefined || /[^\t -~]/.test(value)) return undefined;
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
