import { hunksOf } from '../../core/diff/line-diff.ts';

/** Three versions of one thing: the common ancestor, and the version of each side. */
export interface Sides<T> {
  readonly base: T;
  readonly ours: T;
  readonly theirs: T;
}

/** Applies a function to each of three versions. */
export function mapSides<T, R>({ base, ours, theirs }: Sides<T>, map: (version: T) => R): Sides<R> {
  return { base: map(base), ours: map(ours), theirs: map(theirs) };
}

/** Corresponding pieces of three sequences. */
export interface Region<T> extends Sides<readonly T[]> {
  /** The side whose items are the result; undefined where both sides made different changes. */
  readonly from: 'ours' | 'theirs' | undefined;
}

/**
 * Divides three sequences into the regions of a three-way merge.
 *
 * @param token returns the text by which items are compared.
 * @param apart whether changes of adjacent items are independent; false for lines, as in git.
 */
export function diff3<T>(
  sides: Sides<readonly T[]>,
  token: (item: T) => string,
  apart: boolean,
): Region<T>[] {
  const tokens = sides.base.map(token);
  const changes = (['ours', 'theirs'] as const)
    .flatMap((side) => hunksOf(tokens, sides[side].map(token)).map((hunk) => ({ ...hunk, side })))
    .sort((a, b) => a.start - b.start || a.length - b.length);
  const at = { base: 0, ours: 0, theirs: 0 };
  const take = (side: keyof typeof at, length: number) => {
    const items = sides[side].slice(at[side], at[side] + length);
    at[side] += length;
    return items;
  };
  const regions: Region<T>[] = [];
  const takeSame = (length: number) => {
    const items = { base: take('base', length), ours: take('ours', length) };
    if (length > 0) regions.push({ ...items, theirs: take('theirs', length), from: 'ours' });
  };
  for (let i = 0; i < changes.length; ) {
    const start = changes[i]?.start ?? 0;
    takeSame(start - at.base);
    let end = start;
    const grown = { ours: 0, theirs: 0 };
    const changed = new Set<keyof typeof grown>();
    for (let change = changes[i]; change; change = changes[++i]) {
      const overlaps = change.start < end || change.start === (apart ? start : end);
      if (changed.size > 0 && !overlaps) break;
      changed.add(change.side);
      grown[change.side] += change.newLength - change.length;
      end = Math.max(end, change.start + change.length);
    }
    const base = take('base', end - start);
    const ours = take('ours', base.length + grown.ours);
    const theirs = take('theirs', base.length + grown.theirs);
    const [side] = changed;
    const isSame = areEqual(ours.map(token), theirs.map(token));
    const from = changed.size === 1 ? side : isSame ? 'ours' : undefined;
    regions.push({ base, ours, theirs, from });
  }
  takeSame(sides.base.length - at.base);
  return regions;
}

/** Whether two sequences have the same items. */
export function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

/** Merges a value that cannot conflict: a change wins, and ours wins over theirs. */
export function pick<T>({ base, ours, theirs }: Sides<T>): T {
  return ours === base ? theirs : ours;
}
