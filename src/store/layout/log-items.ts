import { type ListEntry, listEntries } from '../../core/markdown/list-entries.ts';
import { outline, plain, type Section } from '../../core/markdown/sections.ts';
import { trimmed } from './entry-files.ts';

/** An entry as it is in a list: its lines, with the marker. */
export interface Item {
  readonly text: string;
  readonly day: string;
  /** Its offset in the text that it is from. */
  readonly start: number;
  /** How the session notes leave it out; undefined for one that can be a note. */
  readonly mark?: NoteMark | undefined;
}

/** Whether the session notes leave out one entry only, or the older ones as well. */
export type NoteMark = 'left out' | 'end';

/** The text without some items of the lists of a section, and those. */
export function withoutItems(text: string, heading: string, isTaken: (item: Item) => boolean) {
  const taken: Item[] = [];
  let rest = '';
  let from = 0;
  for (const entry of itemsBelow(text, heading)) {
    const item = toItem(text, entry);
    if (!isTaken(item)) continue;
    taken.push(item);
    rest += text.slice(from, entry.start);
    from = entry.end;
  }
  if (taken.length === 0) return { rest: text, taken };
  const tail = text.slice(from);
  // No more than one blank line stays where the items were.
  const isOpen = /(?:^|\n)[ \t]*\r?\n$/.test(rest) || rest === '';
  rest += isOpen ? tail.replace(/^(?:[ \t]*\r?\n)+/, '') : tail;
  return { rest: trimmedLike(rest, text), taken };
}

/** A text that ends in one line end, as a file does. */
function trimmedLike(rest: string, text: string): string {
  return text.endsWith('\n') ? trimmed(rest) : rest.trimEnd();
}

/** Adds items to a section, above the items that it has; undefined without items. */
export function withItems(
  text: string,
  heading: string,
  items: readonly Item[],
  above = '',
): string | undefined {
  if (items.length === 0) return undefined;
  const added = above + items.map((one) => one.text).join('\n');
  const section = sectionOf(text, heading);
  if (!section) {
    return `${trimmed(text)}${text.trim() === '' ? '' : '\n'}## ${heading}\n\n${added}\n`;
  }
  const [first] = itemsBelow(text, heading);
  if (first) return `${text.slice(0, first.start)}${added}\n${text.slice(first.start)}`;
  const head = text.slice(0, section.bodyEnd).trimEnd();
  const tail = text.slice(section.bodyEnd);
  return `${head}\n\n${added}\n${tail === '' ? '' : '\n'}${tail}`;
}

export function itemsBelow(text: string, heading: string): ListEntry[] {
  const section = sectionOf(text, heading);
  if (!section) return [];
  return listEntries(text).filter(
    ({ start }) => start >= section.bodyStart && start < section.bodyEnd,
  );
}

function sectionOf(text: string, heading: string): Section | undefined {
  return outline(text).find((one) => plain(one.heading) === plain(heading));
}

export function toItem(text: string, { start, end }: ListEntry): Item {
  const own = text.slice(start, end).trimEnd();
  const [, day = ''] = /^\s*\S+\s+\[(\d{4}-\d\d-\d\d)\] - /.exec(own) ?? [];
  return { text: own, day, start };
}
