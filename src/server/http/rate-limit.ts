import type { RequestHandler } from 'express';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import { HttpError } from './http-error.ts';
import { type Limits, limitsOf } from './limits.ts';

/**
 * Limits the requests of each caller, with a count of its own for a project with limits of its own.
 *
 * Reports the minute in the headers `X-RateLimit-*`, and the hour once it is used up.
 *
 * @param skip returns true for paths whose authorized requests are not counted.
 */
export function limitRate(limits: Limits, skip: (path: string) => boolean): RequestHandler[] {
  const hours = new MemoryStore();
  const accountOf = ({ caller, project }: Express.Locals) =>
    project?.limits ? `${project.name} ${caller.account}` : caller.account;
  const limitOf = (of: 'minute' | 'hour') => (_: unknown, response: { locals: Express.Locals }) =>
    limitsOf(response.locals.project, limits)[of];
  const window = {
    legacyHeaders: true,
    standardHeaders: false,
    // The library expects addresses as keys and checks proxy headers; neither applies here.
    validate: false,
    keyGenerator: (_: unknown, { locals }: { locals: Express.Locals }) => accountOf(locals),
    skip: (request: { path: string }, { locals }: { locals: Express.Locals }) =>
      locals.caller.authorized && skip(request.path.slice(locals.base?.length ?? 0)),
  } as const;
  const refusal = (limit: string) =>
    new HttpError(429, `More than ${limit} requests. Retry after the seconds in Retry-After.`);
  return [
    rateLimit({
      ...window,
      windowMs: 60 * 60 * 1000,
      limit: limitOf('hour'),
      store: hours,
      handler: (_request, { locals }, next) =>
        next(refusal(`${limitsOf(locals.project, limits).hour} an hour`)),
    }),
    // Counted second: its headers replace those of the hour, unless the hour is used up.
    rateLimit({
      ...window,
      windowMs: 60 * 1000,
      limit: limitOf('minute'),
      async handler(_request, { locals }, next) {
        // A refused request does not count for the hour.
        await hours.decrement(accountOf(locals));
        next(refusal(`${limitsOf(locals.project, limits).minute} a minute`));
      },
    }),
  ];
}
