import { constants } from 'node:os';
import { inspect } from 'node:util';
import type { AppOptions } from '../../app/app.ts';

/**
 * Ends the program in order: calls `stop` once, after a signal to end or an uncaught error.
 *
 * @returns a function that returns the exit status.
 */
export function endInOrder(log: AppOptions['log'], stop: () => void): () => number {
  let status = 0;
  let stopped = false;
  // Windows sends the last two of these for Ctrl+Break and for a console that is closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // The first signal lets running calls finish; the second one ends the program at once.
      if (stopped) process.exit(128 + constants.signals[signal]);
      stopped = true;
      stop();
    });
  }
  process.stderr.on('error', () => {});
  process.on('unhandledRejection', (reason) => log('error', inspect(reason)));
  process.on('uncaughtException', (error) => {
    // The state after an uncaught error is unknown, so the program takes no further call.
    log('error', inspect(error));
    status = 1;
    stop();
  });
  return () => status;
}
