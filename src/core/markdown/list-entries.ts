import { MemoryError } from '../values/error.ts';
import { type Block, parseBlocks } from './blocks.ts';
import { afterEol, lineStart, trimmedEnd } from './line.ts';
import { contentStart, plain } from './sections.ts';
import { withoutDate } from './title-date.ts';

/** Limit of the entries that an error names, and of the characters of each. */
const mostNamed = 5;
const longestNamed = 100;

/** An item of a list, such as a line of progress. Its offsets are those of its lines. */
export interface ListEntry {
  /** Without its marker. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the items of the lists of a markdown text; those inside of items belong to these. */
export function listEntries(text: string): ListEntry[] {
  const lists = parseBlocks(text, contentStart(text), 2).filter(({ kind }) => kind === 'list');
  return lists.flatMap(({ children }) => children.map((item) => entryOf(text, item)));
}

function entryOf(text: string, item: Block): ListEntry {
  const start = lineStart(text, item.start);
  const whole = text.slice(item.start, item.end);
  return {
    text: whole.replace(/^(?:[-*+]|\d{1,9}[.)])[ \t]*/, '').trim(),
    start,
    end: afterEol(text, item.end),
  };
}

/**
 * Finds the one entry that a text names: all of it, all but its date, or a part of it.
 *
 * @returns undefined for none.
 * @throws MemoryError `invalid_input` for several.
 */
export function entryNamed(text: string, wanted: string): ListEntry | undefined {
  const entries = listEntries(text).map((entry) => ({ entry, whole: plain(entry.text) }));
  const name = plain(wanted.replace(/^\s*[-*+]\s+/, ''));
  const fits = [
    (whole: string) => whole === name,
    (whole: string) => plain(withoutDate(whole)) === plain(withoutDate(name)),
    (whole: string) => whole.includes(name),
  ];
  const found = fits.map((isNamed) => entries.filter(({ whole }) => isNamed(whole)));
  const [only, ...others] = found.find((some) => some.length > 0) ?? [];
  if (others.length === 0 || !only) return only?.entry;
  const named = [only, ...others]
    .slice(0, mostNamed)
    .map(({ entry }) => JSON.stringify(entry.text.slice(0, longestNamed)));
  throw new MemoryError('invalid_input', `${others.length + 1} entries fit: ${named.join(', ')}.`, {
    hint: 'Give the whole text of one of them.',
  });
}

/** Returns a text without a part of it, and without a blank line too many where that was. */
export function withoutLines(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): string {
  const before = text.slice(0, start);
  const after = text.slice(end);
  if (after.trim() === '') {
    return before.slice(0, trimmedEnd(before, start)) + text.slice(trimmedEnd(text, text.length));
  }
  const isBlankAbove = before === '' || /\n[ \t]*\r?\n$/.test(before);
  return before + (isBlankAbove ? after.replace(/^(?:[ \t]*\r?\n)+/, '') : after);
}
