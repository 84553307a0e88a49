import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { App } from '../../../app/app.ts';
import type { CallOptions } from '../../../app/session/call-context.ts';
import type { Reply } from '../../../app/session/call-report.ts';
import type { Session } from '../../../core/memory/session.ts';
import { type JsonObject, jsonText } from '../../../core/values/json.ts';
import { HttpError, statuses } from './http-error.ts';

/**
 * One operation of the REST API, from which its route and OpenAPI description are made.
 *
 * `route-access.ts` declares the access to it.
 */
export interface Endpoint {
  readonly method: 'get' | 'post' | 'delete';
  /** The path in OpenAPI notation, `/memory-bank/file/{filename}`; a value may contain slashes. */
  readonly path: string;
  /** The name of the operation in generated clients. */
  readonly id: string;
  readonly summary: string;
  /** Whether it is of the whole server, so that its path has no name of a project before it. */
  readonly ofServer?: boolean;
  /** The schema of the path parameters and body together; undefined if there are none. */
  readonly input?: z.ZodObject;
  /** Whether the arguments that are not in the path are in the query. */
  readonly inQuery?: boolean;
  /** The schema of a successful answer. */
  readonly answer: z.ZodType;
  /** The media type of a successful answer; JSON by default. */
  readonly answerType?: string;
  /** Whether it may make a commit, which the headers of the answer name. */
  readonly commits?: boolean;
  handle(request: Request, response: Response): Promise<void> | void;
}

/** Returns the names of the parameters in the path of an endpoint. */
export function parametersOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Returns the values of parameters in the path of a request; Express splits a value at its slashes. */
export function pathParameters(names: readonly string[], { params }: Request): JsonObject {
  return Object.fromEntries(names.map((name) => [name, [params[name] ?? []].flat().join('/')]));
}

/** Seconds after which a caller may retry a call that was refused as busy. */
const retryAfter = '10';

/** The limit of sessions of REST callers. */
export const maxSessions = 1_000;

/** The app sessions of REST callers: one for each caller and program. */
export class RestSessions {
  readonly #app: App;
  readonly #sessions = new Map<string, Session>();

  constructor(app: App) {
    this.#app = app;
  }

  /**
   * Returns the session of the sender of a request.
   *
   * @param review in which the session works, instead of the memory.
   */
  of(request: Request, response: Response, review?: string): Session {
    const agent = agentOf(request);
    const { id, author, mode } = response.locals.caller;
    const key = `${id} ${agent}${review === undefined ? '' : ` ${review}`}`;
    const inside = review !== undefined && { review };
    const client = { onlyMode: mode, waits: true, isAgent: !isPerson(response), ...inside };
    const session = this.#sessions.get(key) ?? this.#app.connect(client);
    session.agent = agent;
    session.author = author;
    // Moved to the end, so that the first one is always the least recently used.
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > maxSessions && oldest !== undefined) this.#sessions.delete(oldest);
    return session;
  }
}

/** Whether a person sends a request: by the right to decide on reviews, which no agent has. */
function isPerson({ locals: { caller, project } }: Response): boolean {
  return caller.may('memory:review', project);
}

/** Returns the name that the sending program gives itself, such as `curl/8.5.0`. */
export function agentOf(request: Request): string {
  return request.get('user-agent')?.match(/^[!-~]{1,100}/)?.[0] ?? 'rest';
}

/** Returns the options of a call that is cancelled when the client disconnects. */
export function untilClosed(response: Response): CallOptions & { readonly signal: AbortSignal } {
  const disconnect = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) disconnect.abort();
  });
  return { signal: disconnect.signal, unlisted: true };
}

/** Sends the answer of a tool, with its commit in the headers and the status of its error. */
export function sendReply(
  reply: Reply | undefined,
  response: Response,
  toBody: (answer: JsonObject) => JsonObject = (answer) => answer,
): void {
  if (!reply) throw new HttpError(404, 'The toolset of this operation is not enabled.');
  const { error, meta } = reply;
  setProvenance(response, meta);
  if (error === 'busy') response.set('Retry-After', retryAfter);
  if (error === undefined) sendJson(response, toBody(reply.body));
  else sendJson(response.status(statuses[error]), reply.body);
}

/** Sends a body without what Express does for other applications: an ETag, and settings of the JSON. */
export function sendJson(response: Response, body: object): void {
  const text = jsonText(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** Sets the headers that name the commit of a call. */
export function setProvenance(response: Response, meta: JsonObject): Response {
  for (const [name, value] of Object.entries(meta)) {
    const [, key = ''] = name.split('/');
    const header = `X-Memory-${key.charAt(0).toUpperCase()}${key.slice(1)}`;
    // A branch name may contain characters that a header must not.
    response.set(header, String(value).replace(/[^ -~]+|%/g, encodeURIComponent));
  }
  return response;
}
