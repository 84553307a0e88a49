import type { EventEmitter } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { endInOrder } from '../../src/cli/process/shutdown.ts';

const process: EventEmitter = globalThis.process;
const events = [
  ...['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP'],
  ...['unhandledRejection', 'uncaughtException'],
];
const before = new Map(events.map((event) => [event, process.listeners(event)]));

afterEach(() => {
  for (const [event, kept] of before) {
    process.removeAllListeners(event);
    for (const listener of kept) process.on(event, (...args) => listener(...args));
  }
});

// Windows sends SIGBREAK for Ctrl+Break and SIGHUP for a console that is closed.
it.each(['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP'])('%s ends a server once', (signal) => {
  let stops = 0;
  const status = endInOrder(
    () => {},
    () => stops++,
  );
  process.emit(signal, signal);
  expect(stops).toBe(1);
  expect(status()).toBe(0);
});
