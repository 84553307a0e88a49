/** The paths of the records of a type. */
export class OwnedPaths {
  /** Those of which the record is not known, and those of which it is no record. */
  readonly unread = new Set<string>();
  readonly damaged = new Set<string>();
  /** Those that were seen in a folder. */
  readonly #seen = new Set<string>();
  /** The same, once they are asked for in this order. */
  #sorted: string[] | undefined;

  get seen(): ReadonlySet<string> {
    return this.#seen;
  }

  /** All of them in their order. */
  sorted(): readonly string[] {
    this.#sorted ??= [...this.#seen].sort();
    return this.#sorted;
  }

  /** Takes in a path whose record is not known; false when it is one of them already. */
  add(path: string): boolean {
    if (this.#seen.has(path)) return false;
    this.#seen.add(path);
    this.unread.add(path);
    this.#sorted?.splice(placeIn(this.#sorted, path), 0, path);
    return true;
  }

  delete(path: string): void {
    if (!this.#seen.delete(path)) return;
    this.unread.delete(path);
    this.damaged.delete(path);
    this.#sorted?.splice(placeIn(this.#sorted, path), 1);
  }
}

/** Where a text is in a sorted list, or would be. */
export function placeIn(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
