import { createHash } from 'node:crypto';
import { lineNumber, withoutBlankEnds } from '../../core/markdown/line.ts';
import { slug } from '../../core/names/name.ts';

/** A file with entries of a log; its name is relative to the folder of the log. */
export interface EntryFile {
  readonly name: string;
  readonly text: string;
}

/** The files of a log: what is not an entry, and the entries. */
export interface LogFiles {
  /** The text of the file that has the name of the log; undefined if there is none. */
  readonly own: string | undefined;
  readonly entries: readonly EntryFile[];
}

/** A line of an entry file; the first one has number 1. */
export interface EntryPlace {
  readonly file: EntryFile;
  readonly line: number;
}

/** Limit of the title in the name of a file, in UTF-16 code units. */
const maxTitle = 50;

/** The day in the name of an entry file, and its number among those of the day. */
export function dayOfName(name: string): { readonly day: string; readonly number: number } {
  const base = name.slice(name.lastIndexOf('/') + 1);
  const [, day = '', number = '1'] = /^(\d{4}-\d\d-\d\d)(?:-(\d{1,6})(?=-))?/.exec(base) ?? [];
  return { day, number: Number(number) };
}

/** The names of the files of a log, to which those of new entries are added. */
export class EntryNames {
  /** By the day and the part after the number. */
  readonly #names = new Map<string, string>();
  /** The largest number of each day. */
  readonly #numbers = new Map<string, number>();

  constructor(names: readonly string[]) {
    for (const name of names) this.#count(name);
  }

  #count(name: string): void {
    const { day, number } = dayOfName(name);
    const end = name.slice(day.length).replace(/^-(?:\d{1,6}-)?/, '');
    this.#names.set(`${day} ${end}`, name);
    this.#numbers.set(day, Math.max(this.#numbers.get(day) ?? 0, number));
  }

  /**
   * Names the file of a new entry: `2026-01-31-use-git-1a2b3c.md`, and `2026-01-31-2-…` for the second
   * of a day.
   *
   * The hash of the text keeps entries of one title apart that two branches add.
   */
  add(day: string, title: string, text: string): string {
    return this.#next(day, endOf(title, text));
  }

  /**
   * Names the file of an entry that a merge has left in a log: every clone that moves it gives it the same
   * name, whatever other entries the clone has.
   */
  addLeft(day: string, title: string, text: string): string {
    const end = endOf(title, text);
    const name = `${day}${startsWithNumber.test(end) ? '-1' : ''}-${end}`;
    if (this.#names.get(`${day} ${end}`) !== undefined) return this.#next(day, end);
    this.#count(name);
    return name;
  }

  /** The file of a session on a day; a new one if there is none. */
  ofSession(day: string, session: string): string {
    const end = `${session}.md`;
    const known = this.#names.get(`${day} ${end}`);
    return known ?? this.#next(day, end);
  }

  /** A name that comes after all others of its day. */
  #next(day: string, end: string): string {
    const number = (this.#numbers.get(day) ?? 0) + 1;
    // Digits at the beginning of the rest would be read as the number.
    const isPlain = number === 1 && !startsWithNumber.test(end);
    const name = `${day}${isPlain ? '' : `-${number}`}-${end}`;
    this.#count(name);
    return name;
  }
}

const startsWithNumber = /^\d+-/;

/** The part of a name after the day and the number. */
function endOf(title: string, text: string): string {
  return `${slug(title, maxTitle)}-${digestOf(text).slice(0, 6)}.md`;
}

/** Returns the first hexadecimal digits of a hash by which a text is named. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Removes blank lines at both ends of a text, and ends it with a line end. */
export function trimmed(text: string): string {
  const found = withoutBlankEnds(text);
  return found === '' ? '' : `${found}\n`;
}

/** Joins the parts of a document that are not blank, with a blank line between them. */
export function joined(parts: readonly string[]): string {
  return parts
    .map(trimmed)
    .filter((part) => part !== '')
    .join('\n');
}

/**
 * Divides a text into files of which it can be composed again.
 *
 * @param divide gives all entries files, or all but those that are not in files yet; and names that keep
 *   their order, if that is wanted.
 * @returns files of another text only if it cannot be composed of the present ones in any way.
 */
export function exactFiles(
  text: string,
  before: LogFiles,
  divide: (isKept: boolean, isOrdered: boolean) => LogFiles,
  compose: (files: LogFiles) => string,
): LogFiles {
  for (const [isKept, isOrdered] of ways) {
    const files = divide(isKept, isOrdered);
    if (compose(files) === text) return files;
  }
  return before.entries.length > 0 ? divide(true, false) : { own: text, entries: [] };
}

const ways = [
  [false, false],
  [true, false],
  [false, true],
  [true, true],
] as const;

/**
 * The place of a line of a log in a file.
 *
 * @param entry that the line can be in.
 * @param first the line of the file at which the entry begins.
 * @returns undefined for a line after the entry.
 */
export function placeIn(
  file: EntryFile,
  log: string,
  entry: { readonly text: string; readonly start: number },
  line: number,
  first: number,
): EntryPlace | undefined {
  const at = line - lineNumber(log, entry.start);
  const lines = entry.text.trimEnd().split('\n').length;
  return at < lines ? { file, line: Math.max(1, first + at) } : undefined;
}

/** The line of a file that has a line of its text without the blank ones above it. */
export function lineInFile(text: string, line: number): number {
  return line + lineNumber(text, Math.max(0, text.search(/[^\uFEFF \t\r\n]/))) - 1;
}
