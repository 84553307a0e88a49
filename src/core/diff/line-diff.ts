/** A change: `length` items of the old sequence became `newLength` items of the new one. */
export interface Hunk {
  readonly start: number;
  readonly length: number;
  readonly newStart: number;
  readonly newLength: number;
}

/** The index of an item in the old sequence, and that of the equal item in the new one. */
type Match = readonly [old: number, now: number];

/** A part of both sequences. */
interface Window {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** Maximum number of pairs of items to compare in a part without unique items. */
const maxPairs = 4_000_000;
/** Maximum number of times that a part is divided at its unique items. */
const maxDepth = 40;

/**
 * Computes the changes from one sequence to another.
 *
 * It is a patience diff: items that both sequences have exactly once are the anchors, so blank lines and
 * other frequent lines are not. Between anchors it uses the longest common subsequence. The time grows
 * with the length, not with the number of changes, because logs are long and have many equal lines.
 */
export function hunksOf(old: readonly string[], now: readonly string[]): Hunk[] {
  const hunks: Hunk[] = [];
  let at = 0;
  let newAt = 0;
  const end: Match = [old.length, now.length];
  for (const [start, newStart] of [...new Diff(old, now).matches(), end]) {
    const [length, newLength] = [start - at, newStart - newAt];
    if (length + newLength > 0) hunks.push({ start: at, length, newStart: newAt, newLength });
    at = start + 1;
    newAt = newStart + 1;
  }
  return hunks;
}

class Diff {
  readonly #old: readonly string[];
  readonly #now: readonly string[];
  readonly #matches: Match[] = [];

  constructor(old: readonly string[], now: readonly string[]) {
    this.#old = old;
    this.#now = now;
  }

  /** Returns the matches in the order of the sequences. */
  matches(): readonly Match[] {
    this.#match({ from: 0, to: this.#old.length, newFrom: 0, newTo: this.#now.length }, 0);
    return this.#matches;
  }

  #match(window: Window, depth: number): void {
    let { from, to, newFrom, newTo } = window;
    while (from < to && newFrom < newTo && this.#old[from] === this.#now[newFrom]) {
      this.#matches.push([from++, newFrom++]);
    }
    const tail: Match[] = [];
    while (from < to && newFrom < newTo && this.#old[to - 1] === this.#now[newTo - 1]) {
      tail.push([--to, --newTo]);
    }
    if (from < to && newFrom < newTo) this.#divide({ from, to, newFrom, newTo }, depth);
    for (const match of tail.reverse()) this.#matches.push(match);
  }

  #divide({ from, to, newFrom, newTo }: Window, depth: number): void {
    const window = { from, to, newFrom, newTo };
    const anchors = depth < maxDepth ? longestRise(this.#shared(window)) : [];
    if (anchors.length === 0) {
      if ((to - from) * (newTo - newFrom) <= maxPairs) this.#compare(window);
      return;
    }
    let [at, newAt] = [from, newFrom];
    for (const [old, now] of anchors) {
      this.#match({ from: at, to: old, newFrom: newAt, newTo: now }, depth + 1);
      this.#matches.push([old, now]);
      [at, newAt] = [old + 1, now + 1];
    }
    this.#match({ from: at, to, newFrom: newAt, newTo }, depth + 1);
  }

  /** Returns the items that each sequence has exactly once, in the order of the old one. */
  #shared({ from, to, newFrom, newTo }: Window): Match[] {
    const places = once(this.#old, from, to);
    const newPlaces = once(this.#now, newFrom, newTo);
    const shared: Match[] = [];
    for (const [item, old] of places) {
      const now = newPlaces.get(item) ?? -1;
      if (old >= 0 && now >= 0) shared.push([old, now]);
    }
    return shared;
  }

  /** Adds the longest common subsequence, from a table of its lengths. */
  #compare({ from, to, newFrom, newTo }: Window): void {
    const width = newTo - newFrom + 1;
    const lengths = new Uint32Array((to - from + 1) * width);
    const cell = (old: number, now: number) => (old - from) * width + now - newFrom;
    const at = (old: number, now: number) => lengths[cell(old, now)] ?? 0;
    for (let old = to - 1; old >= from; old--) {
      for (let now = newTo - 1; now >= newFrom; now--) {
        const isSame = this.#old[old] === this.#now[now];
        const skipped = Math.max(at(old + 1, now), at(old, now + 1));
        lengths[cell(old, now)] = isSame ? at(old + 1, now + 1) + 1 : skipped;
      }
    }
    for (let [old, now] = [from, newFrom]; old < to && now < newTo; ) {
      if (this.#old[old] === this.#now[now]) this.#matches.push([old++, now++]);
      else if (at(old + 1, now) >= at(old, now + 1)) old++;
      else now++;
    }
  }
}

/** Maps the items of a part of a sequence to their index, or to -1 if they are repeated. */
function once(items: readonly string[], from: number, to: number): Map<string, number> {
  const places = new Map<string, number>();
  for (let i = from; i < to; i++) {
    const item = items[i] ?? '';
    places.set(item, places.has(item) ? -1 : i);
  }
  return places;
}

/** Returns the longest subsequence of matches that is also in order in the new sequence. */
function longestRise(matches: readonly Match[]): Match[] {
  /** For each length, the index of the match that ends a subsequence of this length earliest. */
  const ends: number[] = [];
  const previous: number[] = [];
  const place = (index: number | undefined) => matches[index ?? -1]?.[1] ?? -1;
  for (const [index, [, now]] of matches.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (place(ends[middle]) < now) low = middle + 1;
      else high = middle;
    }
    previous.push(ends[low - 1] ?? -1);
    ends[low] = index;
  }
  const rise: Match[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) {
    const match = matches[index];
    if (match) rise.push(match);
  }
  return rise.reverse();
}
