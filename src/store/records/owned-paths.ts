/** The paths of the records of a type. */
export class OwnedPaths {
  /** Paths of files that are not read yet. */
  readonly unread = new Set<string>();
  /** Paths of files that cannot be read as records. */
  readonly damaged = new Set<string>();
  /** All paths, in the order in which they were found, except for those in `#earlier`. */
  readonly #seen = new Set<string>();
  /** Lists the sorted paths of an earlier process, until they are in `#seen`. */
  #earlier: (() => readonly string[]) | undefined;
  #earlierCount = 0;
  /** All paths, sorted; undefined until they are needed. */
  #sorted: string[] | undefined;

  get seen(): ReadonlySet<string> {
    return this.#all();
  }

  /** The number of all paths. */
  get size(): number {
    return this.#seen.size + this.#earlierCount;
  }

  /**
   * Adds the paths of an earlier process, which are listed when they are first needed.
   *
   * @param count the number of those that are not known yet.
   */
  preload(count: number, list: () => readonly string[]): void {
    this.#earlier = list;
    this.#earlierCount = count;
    this.#sorted = undefined;
  }

  #all(): Set<string> {
    const list = this.#earlier;
    this.#earlier = undefined;
    this.#earlierCount = 0;
    for (const path of list?.() ?? []) this.#seen.add(path);
    return this.#seen;
  }

  /** All paths, sorted. */
  sorted(): readonly string[] {
    this.#sorted ??= [...this.#all()].sort();
    return this.#sorted;
  }

  /** Adds a path that is not read yet; returns false if it is known. */
  add(path: string): boolean {
    const all = this.#all();
    if (all.has(path)) return false;
    all.add(path);
    this.unread.add(path);
    this.#sorted?.splice(positionIn(this.#sorted, path), 0, path);
    return true;
  }

  delete(path: string): void {
    if (!this.#all().delete(path)) return;
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
