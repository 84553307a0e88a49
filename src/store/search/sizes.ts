/** A set of files with their sizes, with quick access to the smallest. */
export class Sizes {
  readonly #sizes = new Map<string, number>();
  /** Sorted with the smallest last; may still contain deleted files. */
  readonly #order: (readonly [path: string, size: number])[] = [];
  /** Whether a file was appended out of order. */
  #unsorted = false;

  get count(): number {
    return this.#sizes.size;
  }

  paths(): Iterable<string> {
    return this.#sizes.keys();
  }

  get(path: string): number | undefined {
    return this.#sizes.get(path);
  }

  set(path: string, size: number): void {
    this.#sizes.set(path, size);
    const last = this.#order.at(-1);
    this.#unsorted ||= last !== undefined && last[1] < size;
    this.#order.push([path, size]);
  }

  delete(path: string): void {
    this.#sizes.delete(path);
  }

  /** The path and the size of the smallest file. */
  smallest(): readonly [path: string, size: number] | undefined {
    if (this.#unsorted) this.#order.sort((a, b) => b[1] - a[1]);
    this.#unsorted = false;
    for (let last = this.#order.at(-1); last; last = this.#order.at(-1)) {
      if (this.#sizes.get(last[0]) === last[1]) return last;
      this.#order.pop();
    }
    return undefined;
  }
}
