import { type Hunk, hunksOf } from './line-diff.ts';

/** Number of unchanged lines around changed ones. */
const context = 2;

/** Splits a text into lines, each with its line end. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Compares two texts in the unified format of diff(1), without file names. */
export function unifiedDiff(before: string, after: string): string {
  const old = linesOf(before);
  const now = linesOf(after);
  const groups: Hunk[][] = [];
  for (const hunk of hunksOf(old, now)) {
    const last = groups.at(-1)?.at(-1);
    const near = last && hunk.start - (last.start + last.length) <= 2 * context;
    if (near) groups.at(-1)?.push(hunk);
    else groups.push([hunk]);
  }
  return groups.map((hunks) => formatGroup(hunks, old, now)).join('');
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
