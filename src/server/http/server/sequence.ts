import type { RequestHandler } from 'express';

/**
 * Returns one handler that runs handlers in their order, each if the one before called `next()`.
 *
 * A router of Express would match the path of each request with each of them.
 */
export function sequence(handlers: readonly RequestHandler[]): RequestHandler {
  return (request, response, done) => {
    let following = 0;
    const next = (error?: unknown): void => {
      const handler = error === undefined ? handlers[following] : undefined;
      following += 1;
      if (!handler) {
        done(error);
        return;
      }
      try {
        const running: unknown = handler(request, response, next);
        if (running instanceof Promise) running.catch(done);
      } catch (thrown) {
        done(thrown);
      }
    };
    next();
  };
}
