import { describe, test } from 'vitest';

/** Whether this is the full run (`npm run test:full`); `npm test` only samples. */
export const isFull = process.env.TEST_DEPTH === 'full';

/** A test of the full run: for cases that take seconds, or start many processes. */
export const deep = test.runIf(isFull);

/** A group of tests of the full run. */
export const describeDeep = describe.runIf(isFull);

/** Number of random runs of a property: all in the full run, a twentieth in the short one. */
export function runs(full: number): number {
  return isFull ? full : Math.max(1, Math.ceil(full / 20));
}

/** Cases of a slow test: all in the full run, the first few in the short one. */
export function sample<T>(all: readonly T[], few: number): readonly T[] {
  return isFull ? all : all.slice(0, few);
}
