import { type Hunk, hunksOf } from '../../core/diff/line-diff.ts';
import { diff3, mapSides, pick, type Sides } from './diff3.ts';

/** Results of a merge with its conflicts decided for ours and for theirs; equal without conflicts. */
export interface SidedResult<T> {
  readonly ours: T;
  readonly theirs: T;
}

/** The result of a merge without a conflict. */
export function settled<T>(value: T): SidedResult<T> {
  return { ours: value, theirs: value };
}

/** Applies a function to both results. */
export function each<T, R>(
  { ours, theirs }: SidedResult<T>,
  work: (value: T) => R,
): SidedResult<R> {
  return { ours: work(ours), theirs: work(theirs) };
}

/** A text as lines; `\n` or `\r\n` between them, unless it mixes the two. */
interface TextLines {
  readonly eol: '\n' | '\r\n';
  /** Whether the last line also has a line end. */
  readonly ended: boolean;
  readonly lines: readonly string[];
}

/**
 * Merges texts with a function for their lines; line endings are merged separately.
 */
export function mergeText(
  sides: Sides<string>,
  merge: (sides: Sides<readonly string[]>) => SidedResult<readonly string[]> = mergeLines,
): SidedResult<string> {
  const mixed = Object.values(sides).some(isMixed);
  const read = mapSides(sides, (text) => readLines(text, mixed));
  const eol = pick(mapSides(read, (text) => text.eol));
  const ended = pick(mapSides(read, (text) => text.ended));
  return each(merge(mapSides(read, ({ lines }) => lines)), (lines) =>
    writeLines({ eol, ended, lines }),
  );
}

/** Merges line by line. */
export function mergeLines(sides: Sides<readonly string[]>): SidedResult<readonly string[]> {
  const regions = diff3(sides, (line) => line, false);
  return {
    ours: regions.flatMap((region) => region[region.from ?? 'ours']),
    theirs: regions.flatMap((region) => region[region.from ?? 'theirs']),
  };
}

/** Joins two results into one text, with git's conflict markers where they differ. */
export function markConflicts({ ours, theirs }: SidedResult<string>, markerSize: number): string {
  if (ours === theirs) return ours;
  const mixed = isMixed(ours) || isMixed(theirs);
  const [one, other] = [readLines(ours, mixed), readLines(theirs, mixed)];
  const isEndMarked = one.ended !== other.ended;
  // If one text ends its last line and the other does not, an empty line represents that end.
  const linesOf = ({ ended, lines }: TextLines) => (ended && isEndMarked ? [...lines, ''] : lines);
  const [before, after] = [linesOf(one), linesOf(other)];
  const marker = (character: string, label = '') => character.repeat(markerSize) + label;
  const marked: (readonly string[])[] = [];
  let at = 0;
  for (const hunk of joinNear(hunksOf(before, after), before)) {
    const end = hunk.start + hunk.length;
    marked.push(
      before.slice(at, hunk.start),
      [marker('<', ' ours')],
      before.slice(hunk.start, end),
      [marker('=')],
      after.slice(hunk.newStart, hunk.newStart + hunk.newLength),
      [marker('>', ' theirs')],
    );
    at = end;
  }
  const lines = [...marked.flat(), ...before.slice(at)];
  return writeLines({ eol: one.eol, ended: one.ended || at === before.length, lines });
}

/** Joins hunks that have only punctuation and blank lines between them. */
function joinNear(hunks: Hunk[], lines: readonly string[]) {
  const joined: Hunk[] = [];
  for (const hunk of hunks) {
    const last = joined.at(-1);
    const between = last && lines.slice(last.start + last.length, hunk.start);
    if (
      !last ||
      !between ||
      between.length > 3 ||
      between.some((line) => /[\p{L}\p{N}]/u.test(line))
    ) {
      joined.push(hunk);
      continue;
    }
    const length = hunk.start + hunk.length - last.start;
    const newLength = hunk.newStart + hunk.newLength - last.newStart;
    joined[joined.length - 1] = { ...last, length, newLength };
  }
  return joined;
}

function isMixed(text: string): boolean {
  return text.includes('\r') && /(?:^|[^\r])\n|\r(?!\n)/.test(text);
}

function readLines(text: string, mixed: boolean): TextLines {
  const eol = !mixed && text.includes('\r\n') ? '\r\n' : '\n';
  if (text === '') return { eol, ended: true, lines: [] };
  const lines = text.split(eol);
  const ended = lines.at(-1) === '';
  if (ended) lines.pop();
  return { eol, ended, lines };
}

function writeLines({ eol, ended, lines }: TextLines): string {
  return lines.length === 0 ? '' : lines.join(eol) + (ended ? eol : '');
}
