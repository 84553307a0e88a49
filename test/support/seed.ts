/**
 * Seed of the random tests, the same in every run, so that failures are caused by the change and are
 * reproducible. `npm run test:random` sets another seed for each of its runs.
 */
export const seed = Number(process.env.TEST_SEED ?? 1);
