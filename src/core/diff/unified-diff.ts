import { type Hunk, hunksOf } from './line-diff.ts';

/** Number of unchanged lines around changed ones. */
const context = 2;

/** Splits a text into lines, each with its line end. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Compares two texts in the unified format of diff(1), without file names. */
export function unifiedDiff(before: string, after: string): string {
  return new TextDiff(before, after).all;
}

/** The differences of two texts, in whole or in part. */
export class TextDiff {
  readonly #old: readonly string[];
  readonly #now: readonly string[];
  readonly #hunks: readonly Hunk[];

  constructor(before: string, after: string) {
    this.#old = linesOf(before);
    this.#now = linesOf(after);
    this.#hunks = hunksOf(this.#old, this.#now);
  }

  /** All differences, in the unified format of diff(1), without file names. */
  get all(): string {
    return this.#format(this.#hunks);
  }

  /** The differences that touch some lines of the old text, counted from 1. */
  touching(first: number, last: number): string {
    return this.#format(
      this.#hunks.filter(({ start, length }) => {
        // Lines that are inserted before the first line or after the last one are not between them.
        return length === 0
          ? start >= first && start < last
          : start < last && start + length >= first;
      }),
    );
  }

  #format(hunks: readonly Hunk[]): string {
    const groups: Hunk[][] = [];
    for (const hunk of hunks) {
      const last = groups.at(-1)?.at(-1);
      const near = last && hunk.start - (last.start + last.length) <= 2 * context;
      if (near) groups.at(-1)?.push(hunk);
      else groups.push([hunk]);
    }
    return groups.map((group) => formatGroup(group, this.#old, this.#now)).join('');
  }
}

function formatGroup(hunks: readonly Hunk[], old: readonly string[], now: readonly string[]) {
  const [first, last] = [hunks[0], hunks.at(-1)];
  if (!first || !last) return '';
  const lead = Math.min(context, first.start);
  const start = first.start - lead;
  const end = Math.min(old.length, last.start + last.length + context);
  const newStart = first.newStart - lead;
  const newEnd = last.newStart + last.newLength + end - (last.start + last.length);
  const lines: string[] = [];
  let at = start;
  for (const { start, length, newStart, newLength } of hunks) {
    for (const line of old.slice(at, start)) lines.push(` ${line}`);
    for (const line of old.slice(start, start + length)) lines.push(`-${line}`);
    for (const line of now.slice(newStart, newStart + newLength)) lines.push(`+${line}`);
    at = start + length;
  }
  for (const line of old.slice(at, end)) lines.push(` ${line}`);
  const range = (from: number, to: number) => `${from === to ? from : from + 1},${to - from}`;
  const head = `@@ -${range(start, end)} +${range(newStart, newEnd)} @@\n`;
  const missing = '\n\\ No newline at end of file\n';
  return head + lines.map((line) => (line.endsWith('\n') ? line : line + missing)).join('');
}
