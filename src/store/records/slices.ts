/** Work in steps; other calls can run between two of them. */
export type Steps<T = void> = Generator<void, T>;

/** Longest time without a pause for other calls, in milliseconds. */
const maxSlice = 12;

/** Runs all of the work without a pause. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs the work in slices, with a turn of the event loop after each of them. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  for (let start = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - start < maxSlice) continue;
    await new Promise((resolve) => setImmediate(resolve));
    start = performance.now();
  }
}
