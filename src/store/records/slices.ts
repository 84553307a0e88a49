/** Work in steps; between two of them other calls may come. */
export type Steps<T = void> = Generator<void, T>;

/** How long work goes on before it lets other calls through, in milliseconds. */
const slice = 12;

/** Does all of the work in one go. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does the work in slices, and lets the event loop turn after each of them. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  for (let start = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - start < slice) continue;
    await new Promise((resolve) => setImmediate(resolve));
    start = performance.now();
  }
}
