/**
 * A value that the callers of one step share: it is computed again after the next await.
 *
 * Calls that continue after the same event take their steps one after the other, without a turn of the
 * event loop between them. No request, timer or change of the disk that is answered earlier can come
 * between a caller and the value that it gets.
 */
export class MicrotaskMemo<T> {
  #current: { readonly value: T } | undefined;

  get(compute: () => T): T {
    if (!this.#current) {
      this.#current = { value: compute() };
      // Runs after the callers that are already waiting to continue.
      queueMicrotask(() => {
        this.#current = undefined;
      });
    }
    return this.#current.value;
  }
}
