import { hunksOf } from '../../core/diff/line-diff.ts';
import { linesOf } from '../../core/diff/unified-diff.ts';
import type { ChangeIndex } from './change-index.ts';
import { Descent, isSame, type Origin, originsOf, type Track } from './lineage.ts';
import type { Versions } from './versions.ts';

/** A line of the last version, and its position in an earlier one. */
interface Followed {
  readonly line: number;
  readonly at: number;
}

/** A version of the record, with the lines that may be from it. */
interface Suspect extends Track {
  readonly lines: readonly Followed[];
}

/** The commit that wrote a line, by its number. */
export interface Writer {
  readonly commit: number;
  /** Whether a shallow clone ends here, so that the line may be older. */
  readonly boundary: boolean;
}

/**
 * Finds the commit that wrote each line of a record, as `git blame` does.
 *
 * A line is from the last commit whose parents do not have it.
 *
 * @param number the commit to begin with.
 * @throws MemoryError `damaged` if a version is not in the repository.
 */
export function blame(
  index: ChangeIndex,
  number: number,
  track: Track,
  versions: Versions,
): Writer[] {
  const writers: Writer[] = [];
  const linesAt = ({ path, blob }: Track) =>
    blob === undefined ? [] : linesOf(versions.text(path, blob));
  const lines = linesAt(track).map((_, line) => ({ line, at: line }));
  const descent = new Descent<Suspect>(index, number, { ...track, lines });
  const pass = ({ commit, ...track }: Origin, lines: readonly Followed[]) => {
    if (lines.length > 0) descent.add(commit, { ...track, lines });
  };
  for (const [commit, suspect] of descent) {
    const origins = originsOf(index, commit, suspect, versions);
    const same = origins?.find((origin) => isSame(suspect, origin));
    let left = suspect.lines;
    if (same) {
      pass(same, left);
      continue;
    }
    for (const origin of origins ?? []) {
      if (origin.blob === undefined || left.length === 0) continue;
      const kept = keptLines(linesAt(origin), linesAt(suspect));
      pass(
        origin,
        left.flatMap(({ line, at }) => {
          const before = kept.get(at);
          return before === undefined ? [] : [{ line, at: before }];
        }),
      );
      left = left.filter(({ at }) => !kept.has(at));
    }
    for (const { line } of left) writers[line] = { commit, boundary: origins === undefined };
  }
  return writers;
}

/** Maps the lines that both texts have from their position in the new text to that in the old one. */
function keptLines(old: readonly string[], now: readonly string[]): Map<number, number> {
  const kept = new Map<number, number>();
  let at = 0;
  let newAt = 0;
  const keepUntil = (start: number) => {
    while (at < start) kept.set(newAt++, at++);
  };
  for (const { start, length, newLength } of hunksOf(old, now)) {
    keepUntil(start);
    at += length;
    newAt += newLength;
  }
  keepUntil(old.length);
  return kept;
}
