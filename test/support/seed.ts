/**
 * Where the random tests begin: at the same place in every run, so that a failure comes from the
 * change and is there again. `npm run test:random` sets another one for each of its runs.
 */
export const seed = Number(process.env.TEST_SEED ?? 1);
