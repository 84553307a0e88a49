import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { App, Reply } from '../../app/app.ts';
import type { CallOptions } from '../../app/call-context.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Session } from '../../core/session.ts';
import { HttpError, statuses } from './http-error.ts';

/** One operation of the REST API; routing and the OpenAPI description are made from it. */
export interface Endpoint {
  readonly method: 'get' | 'post' | 'delete';
  /** As OpenAPI writes it: `/memory-bank/file/{filename}`; a parameter may hold slashes. */
  readonly path: string;
  /** The name of the operation in programs that are made from the description. */
  readonly id: string;
  readonly summary: string;
  /** Whether everybody is answered, with a key or without. */
  readonly open?: boolean;
  /** What the parameters of the path and the keys of the body have to be; undefined where it takes none. */
  readonly input?: z.ZodObject;
  /** What it answers when all went well. */
  readonly answer: z.ZodObject;
  /** Whether it may make a commit, which the headers of the answer then name. */
  readonly commits?: boolean;
  handle(request: Request, response: Response): Promise<void> | void;
}

/** The names of the parameters in the path of an endpoint. */
export function parametersOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** At most this many callers are remembered at once. */
const maxSessions = 1_000;

/** The app's sessions of those who call the REST API: one for each caller and program. */
export class RestSessions {
  readonly #app: App;
  readonly #sessions = new Map<string, Session>();

  constructor(app: App) {
    this.#app = app;
  }

  /** The session of whoever sent a request. */
  of(request: Request, response: Response): Session {
    const agent = agentOf(request);
    const key = `${response.locals.caller.id} ${agent}`;
    const session = this.#sessions.get(key) ?? this.#app.connect();
    session.agent = agent;
    // Set anew, so that the first one is always the one that was not needed for longest.
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > maxSessions && oldest !== undefined) this.#sessions.delete(oldest);
    return session;
  }
}

/** The program that sent a request, by its own name: `curl/8.5.0`. */
export function agentOf(request: Request): string {
  return request.get('user-agent')?.match(/^[!-~]{1,100}/)?.[0] ?? 'rest';
}

/** The options of a call that ends when the one who made it hangs up. */
export function untilClosed(response: Response): CallOptions & { readonly signal: AbortSignal } {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return { signal: gone.signal, unlisted: true };
}

/** Sends what a tool answered, with the status of its failure and the commit that it made (X24). */
export function sendReply(
  reply: Reply | undefined,
  response: Response,
  body: (of: JsonObject) => JsonObject = (of) => of,
): void {
  if (!reply) throw new HttpError(404, 'The toolset of this operation is switched off.');
  const { error, meta } = reply;
  setProvenance(response, meta);
  if (error === undefined) response.json(body(reply.body));
  else response.status(statuses[error]).json(reply.body);
}

/** Says in the headers which commit a call made. */
export function setProvenance(response: Response, meta: JsonObject): Response {
  for (const [name, value] of Object.entries(meta)) {
    const [, what = ''] = name.split('/');
    const header = `X-Memory-${what.charAt(0).toUpperCase()}${what.slice(1)}`;
    // A branch may have any name, a header may not.
    response.set(header, String(value).replace(/[^ -~]+|%/g, encodeURIComponent));
  }
  return response;
}
