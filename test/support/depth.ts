import { describe, test } from 'vitest';

/** Whether this is the full run: `npm run test:full` tries at depth what `npm test` samples. */
export const isFull = process.env.TEST_DEPTH === 'full';

/** A test of the full run: for cases that take seconds, or start many processes. */
export const deep = test.runIf(isFull);

/** A group of such tests. */
export const describeDeep = describe.runIf(isFull);

/** How many random runs a property gets: all of them in the full run, a tenth in the short one. */
export function runs(full: number): number {
  return isFull ? full : Math.max(1, Math.ceil(full / 10));
}

/** The cases of a slow test: all of them in the full run, the first few in the short one. */
export function sample<T>(all: readonly T[], few: number): readonly T[] {
  return isFull ? all : all.slice(0, few);
}
