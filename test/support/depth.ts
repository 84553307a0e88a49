import { describe, test } from 'vitest';

/**
 * How much the tests try: `full`, each as much as it can; `deep`, only those that the short run (`npm test`)
 * leaves out. The full run (`npm run test:full`) has both: each file in one of them, by its imports.
 */
const depth = process.env.TEST_DEPTH;

/** Whether this is the full run; the short one only samples. */
export const isFull = depth !== undefined;

/** A test of the full run: for cases that take seconds, or start many processes. */
export const deep = depth === 'deep' ? test.only : test.runIf(isFull);

/** A group of tests of the full run. */
export const describeDeep = depth === 'deep' ? describe.only : describe.runIf(isFull);

/** Number of random runs of a property: all in the full run, a twentieth in the short one. */
export function runs(full: number): number {
  return isFull ? full : Math.max(1, Math.ceil(full / 20));
}

/** Cases of a slow test: all in the full run, the first few in the short one. */
export function sample<T>(all: readonly T[], few: number): readonly T[] {
  return isFull ? all : all.slice(0, few);
}
