import type { RequestHandler, Response } from 'express';
import { type ClientRateLimitInfo, MemoryStore, type Options } from 'express-rate-limit';
import { HttpError } from './http-error.ts';
import { type Limits, limitsOf } from './limits.ts';

const minute = 60 * 1000;
const hour = 60 * minute;

/** The number of callers at which a count begins to forget those that it has not seen for longest. */
const maxCallers = 20_000;

/** A request that may not be counted, with its path in the project. */
export interface UncountedRequest {
  readonly method: string;
  readonly path: string;
}

/** The requests of each caller in its current window. It keeps at most twice the limit of callers. */
export class CallerCounts extends MemoryStore {
  readonly #limit: number;

  /** @param windowMs the length of a window, in milliseconds. */
  constructor(windowMs: number, limit = maxCallers) {
    super();
    this.#limit = limit;
    this.init({ windowMs } as Options);
  }

  override increment(caller: string): Promise<ClientRateLimitInfo> {
    // The library does the same once a window has passed. Its next request keeps a caller.
    if (this.current.size >= this.#limit && !this.current.has(caller)) {
      this.previous = this.current;
      this.current = new Map();
    }
    return super.increment(caller);
  }
}

/**
 * Limits the requests of each caller, with a count of its own for a project with limits of its own.
 *
 * Reports the minute in the headers `X-RateLimit-*`, and the hour once it is used up.
 *
 * @param skip returns true for a request that is not counted.
 */
export function limitRate(
  limits: Limits,
  skip: (request: UncountedRequest, isAuthorized: boolean) => boolean,
): RequestHandler {
  const hours = new CallerCounts(hour);
  const minutes = new CallerCounts(minute);
  return async (request, response, next) => {
    const { caller, project, base = '' } = response.locals;
    const path = request.path.slice(base.length);
    if (skip({ method: request.method, path }, caller.authorized)) return next();
    const account = project?.limits ? `${project.name} ${caller.account}` : caller.account;
    const ofProject = limitsOf(project, limits);
    const inHour = await hours.increment(account);
    if (inHour.totalHits > ofProject.hour) {
      report(response, ofProject.hour, inHour);
      throw refusal(`${ofProject.hour} an hour`, inHour);
    }
    const inMinute = await minutes.increment(account);
    report(response, ofProject.minute, inMinute);
    if (inMinute.totalHits > ofProject.minute) {
      // A refused request does not count for the hour.
      await hours.decrement(account);
      throw refusal(`${ofProject.minute} a minute`, inMinute);
    }
    next();
  };
}

/** Reports a window in the headers of the answer; the time of its end in seconds since 1970. */
function report(
  response: Response,
  limit: number,
  { totalHits, resetTime }: ClientRateLimitInfo,
): void {
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', Math.max(limit - totalHits, 0));
  response.setHeader('X-RateLimit-Reset', Math.ceil(Number(resetTime) / 1_000));
}

function refusal(limit: string, { resetTime }: ClientRateLimitInfo): HttpError {
  const seconds = Math.max(0, Math.ceil((Number(resetTime) - Date.now()) / 1_000));
  return new HttpError(
    429,
    `More than ${limit} requests. Retry after the seconds in Retry-After.`,
    { 'Retry-After': String(seconds) },
  );
}
