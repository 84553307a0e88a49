import { constants } from 'node:os';
import { inspect } from 'node:util';
import type { AppOptions } from '../app/app.ts';

/**
 * Lets the program end in order: `stop` is called, once, when it is told to end or an error was caught
 * by nobody.
 *
 * @returns asks for the exit status.
 */
export function endInOrder(log: AppOptions['log'], stop: () => void): () => number {
  let status = 0;
  let stopped = false;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // The first signal lets the calls under way finish, the second one does not wait for them.
      if (stopped) process.exit(128 + constants.signals[signal]);
      stopped = true;
      stop();
    });
  }
  process.stderr.on('error', () => {});
  process.on('unhandledRejection', (reason) => log('error', inspect(reason)));
  process.on('uncaughtException', (error) => {
    // Nobody knows what state it left behind, so no further call is taken.
    log('error', inspect(error));
    status = 1;
    stop();
  });
  return () => status;
}
