import type { RequestHandler } from 'express';
import { HttpError } from './http-error.ts';
import { type Limits, limitsOf } from './limits.ts';

const minute = 60 * 1000;
const hour = 60 * minute;

/** The requests of one caller since its window began. */
interface Window {
  count: number;
  /** When the window ends, in milliseconds since 1970. */
  readonly end: number;
}

/** Counts requests in windows that begin with the first request of a caller. */
class Windows {
  readonly #length: number;
  readonly #windows = new Map<string, Window>();
  #nextSweep = 0;

  /** @param length of a window, in milliseconds. */
  constructor(length: number) {
    this.#length = length;
  }

  /** Returns the window of a caller with this request. */
  count(caller: string, now: number): Window {
    this.#sweep(now);
    let window = this.#windows.get(caller);
    if (!window || window.end <= now) {
      window = { count: 0, end: now + this.#length };
      this.#windows.set(caller, window);
    }
    window.count += 1;
    return window;
  }

  /** Removes the windows that have ended, once in the length of a window. */
  #sweep(now: number): void {
    if (now < this.#nextSweep) return;
    this.#nextSweep = now + this.#length;
    for (const [caller, { end }] of this.#windows) if (end <= now) this.#windows.delete(caller);
  }
}

/**
 * Limits the requests of each caller, with a count of its own for a project with limits of its own.
 *
 * Reports the minute in the headers `X-RateLimit-*`, and the hour once it is used up.
 *
 * @param skip returns true for paths whose authorized requests are not counted.
 */
export function limitRate(limits: Limits, skip: (path: string) => boolean): RequestHandler {
  const minutes = new Windows(minute);
  const hours = new Windows(hour);
  return (request, response, next) => {
    const { caller, project, base = '' } = response.locals;
    if (caller.authorized && skip(request.path.slice(base.length))) return next();
    const account = project?.limits ? `${project.name} ${caller.account}` : caller.account;
    const allowed = project?.limits ? limitsOf(project, limits) : limits;
    const now = Date.now();
    const report = ({ count, end }: Window, limit: number, unit: string) => {
      response.setHeader('X-RateLimit-Limit', String(limit));
      response.setHeader('X-RateLimit-Remaining', String(Math.max(0, limit - count)));
      response.setHeader('X-RateLimit-Reset', String(Math.ceil(end / 1000)));
      if (count <= limit) return;
      response.setHeader('Retry-After', String(Math.max(0, Math.ceil((end - now) / 1000))));
      const retry = 'Retry after the seconds in Retry-After.';
      throw new HttpError(429, `More than ${limit} requests ${unit}. ${retry}`);
    };
    const ofHour = hours.count(account, now);
    if (ofHour.count > allowed.hour) report(ofHour, allowed.hour, 'an hour');
    const ofMinute = minutes.count(account, now);
    // A refused request does not count for the hour.
    if (ofMinute.count > allowed.minute) ofHour.count -= 1;
    report(ofMinute, allowed.minute, 'a minute');
    next();
  };
}
