/** The paths of the records of a type. */
export class OwnedPaths {
  /** Paths of files that are not read yet. */
  readonly unread = new Set<string>();
  /** Paths of files that cannot be read as records. */
  readonly damaged = new Set<string>();
  /** All paths, in the order in which they were found. */
  readonly #seen = new Set<string>();
  /** All paths, sorted; undefined until they are needed. */
  #sorted: string[] | undefined;

  get seen(): ReadonlySet<string> {
    return this.#seen;
  }

  /** All paths, sorted. */
  sorted(): readonly string[] {
    this.#sorted ??= [...this.#seen].sort();
    return this.#sorted;
  }

  /** Adds a path that is not read yet; returns false if it is known. */
  add(path: string): boolean {
    if (this.#seen.has(path)) return false;
    this.#seen.add(path);
    this.unread.add(path);
    this.#sorted?.splice(positionIn(this.#sorted, path), 0, path);
    return true;
  }

  /** Adds a path whose record is known. */
  addRead(path: string): void {
    this.#seen.add(path);
    this.#sorted = undefined;
  }

  delete(path: string): void {
    if (!this.#seen.delete(path)) return;
    this.unread.delete(path);
    this.damaged.delete(path);
    this.#sorted?.splice(positionIn(this.#sorted, path), 1);
  }
}

/** The position of a text in a sorted list, or the one where it belongs. */
export function positionIn(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
