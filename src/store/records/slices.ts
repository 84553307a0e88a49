import { monotonicTime } from '../../core/timing/clock.ts';

/** Work in steps; other calls can run between two of them. */
export type Steps<T = void> = Generator<void, T>;

/** Longest time without a pause for other calls, in milliseconds. */
const maxSlice = 12;

/** The clock is looked at after this many steps: many steps take less time than the look. */
const stepsPerLook = 4;

/** Runs all of the work without a pause. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Measures how long work has kept the event loop busy. */
export class Slice {
  #start = monotonicTime();

  get isOver(): boolean {
    return monotonicTime() - this.#start >= maxSlice;
  }

  /** Gives the event loop a turn, and begins the next slice. */
  async turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#start = monotonicTime();
  }
}

/**
 * Runs the work in slices, with a turn of the event loop after each of them.
 *
 * @param pause called after each slice; an error that it throws ends the work.
 */
export async function inSlices<T>(steps: Steps<T>, pause?: () => void): Promise<T> {
  const current = new Slice();
  for (let step = 1; ; step++) {
    const { done, value } = steps.next();
    if (done) return value;
    if (step % stepsPerLook !== 0 || !current.isOver) continue;
    await current.turn();
    pause?.();
  }
}
