import type { RequestHandler } from 'express';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import { HttpError } from './http-error.ts';

/** The limits of requests of one caller. */
export interface Limits {
  readonly minute: number;
  readonly hour: number;
}

/**
 * Limits the requests of each caller, and reports the minute in the headers `X-RateLimit-*`.
 *
 * The headers report the hour once it is used up.
 *
 * @param skip returns true for paths whose authorized requests are not counted.
 */
export function limitRate(limits: Limits, skip: (path: string) => boolean): RequestHandler[] {
  const hours = new MemoryStore();
  const window = {
    legacyHeaders: true,
    standardHeaders: false,
    // The library expects addresses as keys and checks proxy headers; neither applies here.
    validate: false,
    keyGenerator: (_: unknown, { locals }: { locals: Express.Locals }) => locals.caller.account,
    skip: (request: { path: string }, { locals }: { locals: Express.Locals }) =>
      locals.caller.authorized && skip(request.path.slice(locals.project?.path.length ?? 0)),
  } as const;
  const refusal = (limit: string) =>
    new HttpError(429, `More than ${limit} requests. Retry after the seconds in Retry-After.`);
  return [
    rateLimit({
      ...window,
      windowMs: 60 * 60 * 1000,
      limit: limits.hour,
      store: hours,
      handler: (_request, _response, next) => next(refusal(`${limits.hour} an hour`)),
    }),
    // Counted second: its headers replace those of the hour, unless the hour is used up.
    rateLimit({
      ...window,
      windowMs: 60 * 1000,
      limit: limits.minute,
      async handler(_request, response, next) {
        // A refused request does not count for the hour.
        await hours.decrement(response.locals.caller.account);
        next(refusal(`${limits.minute} a minute`));
      },
    }),
  ];
}
