import { inspect } from 'node:util';
import type { Request, Response } from 'express';
import { ModelError } from '../../../app/model/model.ts';
import type { LogLevel } from '../../../core/declarations/context.ts';
import { type ErrorCode, MemoryError, toMemoryError } from '../../../core/values/error.ts';
import type { JsonObject } from '../../../core/values/json.ts';

/** The HTTP status of each error code. */
export const statuses: Record<ErrorCode, number> = {
  invalid_input: 400,
  not_found: 404,
  already_exists: 400,
  forbidden: 403,
  confirmation_required: 400,
  not_activated: 400,
  damaged: 400,
  too_large: 413,
  secret: 400,
  conflict: 400,
  busy: 503,
  unsupported: 500,
  ignored: 500,
  no_project: 400,
  cannot_create: 500,
  storage: 500,
  remote: 502,
  cancelled: 503,
  unauthorized: 401,
  rate_limited: 429,
  internal: 500,
};

/** An error of HTTP itself, which no tool has thrown. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };

  constructor(status: number, message: string, headers: { readonly [name: string]: string } = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Returns the body of an error in the format of seed 003 ("Error Response Format"). */
export function errorBody(status: number, message: string): JsonObject {
  return { status: 'error', error: { code: codeOf(status), message } };
}

/** Answers a request with an error; the details of an internal error go to the log only. */
export function sendError(
  thrown: unknown,
  request: Request,
  response: Response,
  log: (level: LogLevel, message: string) => void,
): void {
  const { status, message, headers } = toHttpError(thrown);
  // The app has logged its own errors.
  if (status === 500 && !(thrown instanceof MemoryError)) {
    log('error', `${request.method} ${request.path}: ${inspect(thrown)}`);
  }
  // Part of the answer is sent, so only an aborted response can show the failure.
  if (response.headersSent) response.destroy();
  else response.status(status).set(headers).json(errorBody(status, message));
}

/** Converts any thrown value to an error with a status and a message for the client. */
export function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  if (thrown instanceof ModelError) return new HttpError(thrown.late ? 504 : 502, thrown.message);
  // Express throws errors with a status when it cannot read a request.
  const { status, type } = Object(thrown) as { status?: unknown; type?: unknown };
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return unreadable.get(type) ?? new HttpError(status, 'The request cannot be read.');
  }
  const error = toMemoryError(thrown);
  return new HttpError(statuses[error.code], error.text);
}

const unreadable = new Map<unknown, HttpError>([
  ['entity.parse.failed', new HttpError(400, 'The body must be a JSON object.')],
  ['entity.verify.failed', new HttpError(400, 'The body is not valid UTF-8.')],
  ['entity.too.large', new HttpError(413, 'The body is too large.')],
  ['charset.unsupported', new HttpError(415, 'The body must be UTF-8.')],
]);

function codeOf(status: number): string {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'rate_limit_exceeded';
  return status === 401 || status === 403 ? 'unauthorized' : 'invalid_request';
}
