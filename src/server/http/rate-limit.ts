import type { RequestHandler } from 'express';
import { type ClientRateLimitInfo, MemoryStore, rateLimit } from 'express-rate-limit';
import { HttpError } from './http-error.ts';
import { type Limits, limitsOf } from './limits.ts';

const minute = 60 * 1000;
const hour = 60 * minute;

/** The number of callers at which a count begins to forget those that it has not seen for longest. */
const maxCallers = 20_000;

/** The requests of each caller in its current window. It keeps at most twice the limit of callers. */
export class CallerCounts extends MemoryStore {
  readonly #limit: number;

  constructor(limit = maxCallers) {
    super();
    this.#limit = limit;
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
 * @param skip returns true for paths whose authorized requests are not counted.
 */
export function limitRate(limits: Limits, skip: (path: string) => boolean): RequestHandler {
  const hours = new CallerCounts();
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
  } as const;
  const refusal = (limit: string) =>
    new HttpError(429, `More than ${limit} requests. Retry after the seconds in Retry-After.`);
  const ofHour = rateLimit({
    ...window,
    windowMs: hour,
    limit: limitOf('hour'),
    store: hours,
    handler: (_request, { locals }, next) =>
      next(refusal(`${limitsOf(locals.project, limits).hour} an hour`)),
  });
  const ofMinute = rateLimit({
    ...window,
    windowMs: minute,
    limit: limitOf('minute'),
    store: new CallerCounts(),
    async handler(_request, { locals }, next) {
      // A refused request does not count for the hour.
      await hours.decrement(accountOf(locals));
      next(refusal(`${limitsOf(locals.project, limits).minute} a minute`));
    },
  });
  return async (request, response, next) => {
    const { caller, project, base = '' } = response.locals;
    if (caller.authorized && skip(request.path.slice(base.length))) return next();
    const { totalHits } = await hours.increment(accountOf(response.locals));
    // The headers are those of the minute, so the limiter of the hour only has to refuse.
    const isUsedUp = totalHits > limitsOf(project, limits).hour;
    (isUsedUp ? ofHour : ofMinute)(request, response, next);
  };
}
