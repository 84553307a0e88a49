import type { RequestHandler } from 'express';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import { HttpError } from './http-error.ts';

/** How many requests a caller may send. */
export interface Limits {
  readonly minute: number;
  readonly hour: number;
}

/**
 * Limits the requests of each caller and says in three headers where he stands (3.17): in the minute,
 * or in the hour when that is used up.
 *
 * @param skip whether a request is not counted.
 */
export function limitRate(limits: Limits, skip: (path: string) => boolean): RequestHandler[] {
  const hours = new MemoryStore();
  const window = {
    legacyHeaders: true,
    standardHeaders: false,
    // Our own keys are no addresses, and headers that a proxy might set count for nothing here.
    validate: false,
    keyGenerator: (_: unknown, { locals }: { locals: Express.Locals }) => locals.caller.account,
    skip: (request: { path: string }, { locals }: { locals: Express.Locals }) =>
      locals.caller.authorized && skip(request.path),
  } as const;
  const refuse = (what: string) =>
    new HttpError(429, `More than ${what} requests; try again later, as Retry-After says.`);
  return [
    rateLimit({
      ...window,
      windowMs: 60 * 60 * 1000,
      limit: limits.hour,
      store: hours,
      handler: (_request, _response, next) => next(refuse(`${limits.hour} an hour`)),
    }),
    // Counted second, so that its headers stand unless the hour is used up.
    rateLimit({
      ...window,
      windowMs: 60 * 1000,
      limit: limits.minute,
      async handler(_request, response, next) {
        // What is refused does not use up the hour.
        await hours.decrement(response.locals.caller.account);
        next(refuse(`${limits.minute} a minute`));
      },
    }),
  ];
}
