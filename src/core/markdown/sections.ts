import { MemoryError } from '../error.ts';
import { type Block, parseBlocks } from './blocks.ts';
import { afterEol, lineEnd, lineStart, trimmedEnd, withoutBlankEnds } from './line.ts';
import { closed, headingText, listText } from './text.ts';

/** A heading of the document and what stands under it. Every offset is one into the text. */
export interface Section {
  /** The heading's text, with its inline markdown. */
  readonly heading: string;
  /** 1 to 6. */
  readonly level: number;
  /** Where the line of the heading begins. */
  readonly start: number;
  /** Where the line after the heading begins. */
  readonly bodyStart: number;
  /** Where the next heading of any level begins, or the text ends. */
  readonly bodyEnd: number;
  /** Where the next heading of the same or a higher level begins, or the text ends. */
  readonly end: number;
}

/**
 * The sections of a markdown text, in order.
 *
 * Headings inside code, HTML, quotes and list items are none of the document's own; a byte order
 * mark and front matter (a first line `---` to the next `---` or `...`) belong to no section.
 */
export function outline(text: string): Section[] {
  return new Document(text).sections;
}

/** A title is looked for in so many characters, so that a long text without a heading costs little. */
const titleRange = 65_536;
/** The part of them that is parsed first: nearly every title is at the beginning. */
const firstRange = 1_024;

/**
 * The first heading of a markdown text on one line, or undefined.
 *
 * Of headings the same count as in `outline`: a comment in front matter or in code is not one.
 */
export function titleOf(text: string): string | undefined {
  const start = contentStart(text);
  for (let range = firstRange; range <= titleRange; range *= 4) {
    const part = text.slice(0, start + range);
    const titles = parseBlocks(part, start).map(({ kind, text: title }) =>
      kind === 'heading' ? title?.trim() : undefined,
    );
    // The line at the end is cut off, perhaps in the middle of a heading.
    const whole = part.length === text.length ? titles : titles.slice(0, -1);
    const title = whole.find((candidate) => candidate);
    if (title || part.length === text.length) return title?.replace(/\s+/g, ' ');
  }
  return undefined;
}

// The functions below edit a part of a text. All of them throw a MemoryError `conflict`, without a
// path, for a text with conflict markers: its blocks are not those of either side, and an edit could
// remove a marker. Only a caller that replaces the whole text can resolve the conflict.

/**
 * Adds markdown to a section, below what stands there and above its first sub-heading; a section
 * that is missing is made at the end, at level 2. A list goes on with the list that it comes below.
 * The markdown is taken as it is, but for blank lines at its ends.
 *
 * @param heading the heading's text at any level; case and inline markdown do not count. The first
 *   section with it is taken.
 */
export function insertInSection(text: string, heading: string, markdown: string): string {
  return Document.forEdit(text).insert(heading, markdown);
}

/** Adds an item at the top of the first list of a section; section and list are made when missing. */
export function prependToList(text: string, heading: string, item: string): string {
  const document = Document.forEdit(text);
  const list = document.list(heading);
  if (!list) return document.insert(heading, listText([item]));
  const at = lineStart(text, list.start);
  const added = listText([item], text.slice(at, list.start), list.marker);
  const gap = isLoose(text, list) ? '\n\n' : '\n';
  return text.slice(0, at) + document.native(added + gap) + text.slice(at);
}

/**
 * Replaces the items of the first list of a section; its other text stays. Section and list are
 * made when missing; an empty list takes the place of nothing.
 */
export function replaceList(text: string, heading: string, items: readonly string[]): string {
  const document = Document.forEdit(text);
  const list = document.list(heading);
  if (!list) {
    return document.insert(heading, listText(items));
  }
  const start = lineStart(text, list.start);
  const next = afterEol(text, list.end);
  const meetsText = next < text.length && !isBlankLine(text, next);
  if (items.length > 0) {
    const added = listText(items, text.slice(start, list.start), list.marker);
    const gap = meetsText && !endsInParagraph(list) ? '\n' : '';
    return text.slice(0, start) + document.native(added + gap) + text.slice(list.end);
  }
  const before = lineStart(text, start - (text.slice(0, start).endsWith('\r\n') ? 2 : 1));
  if (start > 0 && isBlankLine(text, before)) {
    return text.slice(0, meetsText ? start : before) + text.slice(next);
  }
  // What stood on both sides of the list must not become one paragraph, or a heading of it.
  return text.slice(0, start) + (meetsText ? document.eol : '') + text.slice(next);
}

/**
 * Removes items of the first list of a section, and puts a notice about it below the heading. A text
 * without such items stays as it is.
 *
 * @param isOld is called for each item in order, with its text and marker; not for the first one, which stays.
 */
export function removeItems(
  text: string,
  heading: string,
  isOld: (item: string) => boolean,
  notice: string,
): string {
  const document = Document.forEdit(text);
  const section = document.find(heading);
  const [first, ...others] = document.list(heading)?.children ?? [];
  if (!section || !first) return text;
  let last = first;
  let kept = text.slice(section.bodyStart, first.end);
  for (const item of others) {
    if (isOld(text.slice(item.start, item.end))) continue;
    // The line ends and blank lines above the item are its own.
    const above = text.slice(0, lineStart(text, item.start));
    kept += text.slice(trimmedEnd(above, above.length), item.end);
    last = item;
  }
  const end = others.at(-1)?.end ?? first.end;
  if (kept.length === end - section.bodyStart && last.end === end) return text;
  const body = kept + text.slice(end);
  if (body.includes(notice)) return text.slice(0, section.bodyStart) + body;
  const gap = isBlankLine(body, 0) ? '' : '\n';
  return text.slice(0, section.bodyStart) + document.native(`\n${notice}\n${gap}`) + body;
}

/**
 * Adds markdown, usually a heading and what belongs to it, at the end of the text. The markdown is
 * taken as it is, but for blank lines at its ends.
 */
export function appendSection(text: string, markdown: string): string {
  const document = Document.forEdit(text);
  const added = withoutBlankEnds(markdown);
  return added === '' ? text : document.append(added);
}

class Document {
  /** The line end that most lines have. */
  readonly eol: string;
  readonly sections: Section[] = [];
  readonly #text: string;
  readonly #blocks: readonly Block[];
  /** Where the last line ends that is not blank; 0 when there is none. */
  readonly #end: number;

  constructor(text: string) {
    this.#text = text;
    this.eol = dominantEol(text);
    this.#blocks = parseBlocks(text, contentStart(text));
    this.#end = trimmedEnd(text, text.length);
    const nextAt: number[] = Array(7).fill(text.length);
    for (const { kind, level, text: heading, start: at, end } of this.#blocks.toReversed()) {
      if (kind !== 'heading' || level === undefined || heading === undefined) continue;
      const start = lineStart(text, at);
      this.sections.push({
        heading,
        level,
        start,
        bodyStart: afterEol(text, end),
        bodyEnd: nextAt[6] ?? text.length,
        end: nextAt[level] ?? text.length,
      });
      nextAt.fill(start, level);
    }
    this.sections.reverse();
  }

  /** @throws MemoryError `conflict` for a text with conflict markers. */
  static forEdit(text: string): Document {
    const document = new Document(text);
    document.#refuseConflict();
    return document;
  }

  /** Passes over a conflict that is whole within a closed fence: an example, and no edit changes a fence. */
  #refuseConflict(): void {
    const fences = this.#blocks.filter(
      ({ kind, closer }) => kind === 'fence' && closer === undefined,
    );
    let next = 0;
    let begun: { readonly index: number; readonly fence: Block | undefined } | undefined;
    for (const { 0: marker, index } of this.#text.matchAll(/^(?:<{7}|>{7})(?: .*)?$/gm)) {
      while ((fences[next]?.end ?? index) < index) next++;
      const candidate = fences[next];
      const fence = candidate && candidate.start < index ? candidate : undefined;
      if (marker.startsWith('<')) begun = { index, fence };
      if (!begun) continue;
      if (begun.fence === undefined || begun.fence !== fence) this.#refuse(begun.index);
      if (marker.startsWith('>')) begun = undefined;
    }
  }

  #refuse(index: number): never {
    const line = (this.#text.slice(0, index).match(/\r\n?|\n/g)?.length ?? 0) + 1;
    throw new MemoryError('conflict', `a merge left conflict markers in line ${line}`, {
      hint: 'Resolve the conflict in the file, or replace the whole file by its resolved text.',
    });
  }

  find(heading: string): Section | undefined {
    const wanted = plain(heading);
    return this.sections.find((section) => plain(section.heading) === wanted);
  }

  /** The first list directly under a heading. */
  list(heading: string): Block | undefined {
    const section = this.find(heading);
    if (!section) return undefined;
    return this.#blocks.find(
      ({ kind, start }) => kind === 'list' && start >= section.bodyStart && start < section.bodyEnd,
    );
  }

  /** Adds markdown to a section; see `insertInSection`. */
  insert(heading: string, markdown: string): string {
    const section = this.find(heading);
    const added = closed(withoutBlankEnds(markdown));
    if (section && added === '') return this.#text;
    if (section) return this.insertBefore(section.bodyEnd, added, { joinLists: true });
    return this.append(withoutBlankEnds(`## ${headingText(heading)}\n\n${added}`));
  }

  append(markdown: string): string {
    return this.insertBefore(this.#text.length, markdown);
  }

  /** Puts markdown after the last line above `end` that is not blank, with blank lines around it. */
  insertBefore(end: number, markdown: string, options = { joinLists: false }): string {
    const at = trimmedEnd(this.#text, end);
    const closer = at === this.#end ? this.#blocks.at(-1)?.closer : undefined;
    const after = this.#text.slice(at);
    const isEmpty = /^\uFEFF?$/.test(this.#text.slice(0, at));
    const gap = options.joinLists && this.#isListGoingOn(at, markdown) ? '\n' : '\n\n';
    const above = isEmpty ? '' : closer === undefined ? gap : `\n${closer}\n\n`;
    const isOpen = after === '' || !isBlankLine(after, afterEol(after, 0));
    return this.#text.slice(0, at) + this.native(above + markdown + (isOpen ? '\n' : '')) + after;
  }

  /** Whether a tight list ends here and the markdown begins with items of its kind. */
  #isListGoingOn(at: number, markdown: string): boolean {
    const list = this.#blocks.find(({ end }) => end === at);
    // Its indentation may make it a nested list, or code if it stood alone.
    const [first] = parseBlocks(markdown.trimStart());
    if (list?.kind !== 'list' || first?.kind !== 'list') return false;
    return list.marker === first.marker && !isLoose(this.#text, list);
  }

  /** A text with this document's line ends. */
  native(text: string): string {
    return text.replace(/\r\n?|\n/g, this.eol);
  }
}

/** Whether blank lines stand between the items of a list. */
function isLoose(text: string, list: Block): boolean {
  const [first, second] = list.children;
  const gap = first && second ? text.slice(first.end, second.start) : '';
  return (gap.match(/\r\n?|\n/g)?.length ?? 0) > 1;
}

/** Whether a line after it that begins no block would be taken for a part of it. */
function endsInParagraph(block: Block): boolean {
  const last = block.children.at(-1);
  return last ? endsInParagraph(last) : block.kind === 'paragraph';
}

/** A heading's text the way it is compared: without inline markdown, case and runs of space. */
function plain(heading: string): string {
  const text = heading
    .slice(0, 1_000)
    .normalize()
    .toLowerCase()
    .replace(/!?\[([^[\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/[*`]|~~|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\\(?=[!-/:-@[-`{-~])/gu, '');
  return (text || heading).replace(/\s+/g, ' ').trim();
}

/** Where the blocks begin: after a byte order mark and front matter. */
export function contentStart(text: string): number {
  const frontMatter = /^\uFEFF?---[ \t]*(?=[\r\n]).*?[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n?|\n|$)/s;
  return frontMatter.exec(text)?.[0].length ?? (text.startsWith('\uFEFF') ? 1 : 0);
}

function dominantEol(text: string): string {
  let [unix, dos, mac] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\n') unix++;
    else if (text[at] !== '\r') continue;
    else if (text[at + 1] !== '\n') mac++;
    else {
      dos++;
      at++;
    }
  }
  if (unix >= dos && unix >= mac) return '\n';
  return dos >= mac ? '\r\n' : '\r';
}

function isBlankLine(text: string, at: number): boolean {
  return /^[ \t]*$/.test(text.slice(at, lineEnd(text, at)));
}
