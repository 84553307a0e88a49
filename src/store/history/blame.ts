import { hunksOf } from '../../core/diff.ts';
import type { ChangeIndex } from './change-index.ts';
import { type FindSource, type Origin, originsOf, type Track } from './lineage.ts';

/** A line of the last version, and where it stands in an earlier one. */
interface Followed {
  readonly line: number;
  readonly at: number;
}

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
 * Who wrote each line of a record, found the way `git blame` does: a line belongs to the last commit
 * that no parent has it from.
 *
 * @param linesAt the lines of the record at a path, in a commit.
 */
export function blame(
  index: ChangeIndex,
  number: number,
  path: string,
  findSource: FindSource,
  linesAt: (commit: number, path: string) => readonly string[],
): Writer[] {
  const writers: Writer[] = [];
  const waiting: (readonly Suspect[] | undefined)[] = [];
  const lines = linesAt(number, path).map((_, line) => ({ line, at: line }));
  waiting[number] = [{ path, present: true, lines }];
  const pass = (origin: Origin, lines: readonly Followed[]) => {
    if (lines.length === 0) return;
    const { commit, path, present } = origin;
    waiting[commit] = [...(waiting[commit] ?? []), { path, present, lines }];
  };
  for (let commit = number; commit >= 0; commit--) {
    for (const suspect of waiting[commit] ?? []) {
      const origins = originsOf(index, commit, suspect, findSource);
      const same = origins?.find((origin) => origin.same);
      let left = suspect.lines;
      if (same) {
        pass(same, left);
        continue;
      }
      for (const origin of origins ?? []) {
        if (!origin.present || left.length === 0) continue;
        const kept = keptLines(linesAt(origin.commit, origin.path), linesAt(commit, suspect.path));
        const place = (at: number) => kept.get(at);
        pass(
          origin,
          left.flatMap(({ line, at }) => {
            const before = place(at);
            return before === undefined ? [] : [{ line, at: before }];
          }),
        );
        left = left.filter(({ at }) => place(at) === undefined);
      }
      for (const { line } of left) writers[line] = { commit, boundary: origins === undefined };
    }
    waiting[commit] = undefined;
  }
  return writers;
}

/** Lines that stand in both texts: where in the new one, to where in the old one. */
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
