/** The paths of the records of a type that an earlier process has saved. */
export interface EarlierPaths {
  has(path: string): boolean;
  /** Lists them, sorted. */
  list(): readonly string[];
}

/** The paths of the records of a type. */
export class OwnedPaths {
  /** Paths of files that are not read yet. */
  readonly unread = new Set<string>();
  /** Paths of files that cannot be read as records. */
  readonly damaged = new Set<string>();
  /** All paths, in the order in which they were found, except for the earlier ones. */
  readonly #seen = new Set<string>();
  /** Those of an earlier process, until all paths are listed; some of them may be in `#seen` or gone. */
  #earlier: EarlierPaths | undefined;
  readonly #gone = new Set<string>();
  #size = 0;
  /** All paths, sorted; undefined until they are needed. */
  #sorted: string[] | undefined;

  /** The number of all paths. */
  get size(): number {
    return this.#size;
  }

  /** Adds the paths of an earlier process, `count` of which are not known yet. */
  preload(count: number, earlier: EarlierPaths): void {
    this.#earlier = earlier;
    this.#size += count;
    this.#sorted = undefined;
  }

  /** All paths. */
  get all(): ReadonlySet<string> {
    const paths = this.#earlier?.list() ?? [];
    for (const path of paths) if (!this.#gone.has(path)) this.#seen.add(path);
    this.#earlier = undefined;
    this.#gone.clear();
    return this.#seen;
  }

  /** All paths, sorted. */
  sorted(): readonly string[] {
    this.#sorted ??= [...this.all].sort();
    return this.#sorted;
  }

  has(path: string): boolean {
    return this.#seen.has(path) || (this.#isEarlier(path) && !this.#gone.has(path));
  }

  #isEarlier(path: string): boolean {
    return this.#earlier?.has(path) === true;
  }

  /** Adds a path that is not read yet; returns false if it is known. */
  add(path: string): boolean {
    if (this.has(path)) return false;
    this.#seen.add(path);
    this.#size += 1;
    this.unread.add(path);
    this.#sorted?.splice(positionIn(this.#sorted, path), 0, path);
    return true;
  }

  delete(path: string): void {
    if (!this.has(path)) return;
    this.#seen.delete(path);
    if (this.#isEarlier(path)) this.#gone.add(path);
    this.#size -= 1;
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
