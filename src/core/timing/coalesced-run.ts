/**
 * Work that its callers share: it begins in the turn of the event loop after they have asked for it.
 *
 * So it sees every change that was made before any of them asked.
 */
export class CoalescedRun<T> {
  readonly #work: () => Promise<T>;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** Returns the result of the next run. */
  run(): Promise<T> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        resolve(this.#work());
      });
    });
    return this.#next;
  }
}
