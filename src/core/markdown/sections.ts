import { MemoryError } from '../values/error.ts';
import { type Block, parseBlocks } from './blocks.ts';
import { afterEol, lineEnd, lineStart, trimmedEnd, withoutBlankEnds } from './line.ts';
import { closed, headingText, listText } from './text.ts';

/** A heading of the document with the text below it. All offsets refer to the whole text. */
export interface Section {
  /** The heading's text, with inline markdown as written. */
  readonly heading: string;
  /** 1 to 6. */
  readonly level: number;
  /** Start of the line of the heading. */
  readonly start: number;
  /** Start of the line after the heading. */
  readonly bodyStart: number;
  /** Start of the next heading of any level, or the end of the text. */
  readonly bodyEnd: number;
  /** Start of the next heading of the same or a higher level, or the end of the text. */
  readonly end: number;
}

/**
 * Returns the sections of a markdown text, in order.
 *
 * Headings inside code, HTML, quotes and list items do not count. A byte order mark and front
 * matter (a first line `---` up to the next `---` or `...`) belong to no section.
 */
export function outline(text: string): Section[] {
  return new Document(text).sections;
}

/** Characters that are searched for a title, so that a long text without a heading costs little. */
const titleRange = 65_536;
/** Characters that are parsed first, because nearly every title is at the beginning. */
const firstRange = 1_024;

/**
 * Returns the first heading of a markdown text as one line, or undefined.
 *
 * The same headings count as in `outline`: a comment in front matter or in code is not a heading.
 */
export function titleOf(text: string): string | undefined {
  const start = contentStart(text);
  for (let range = firstRange; range <= titleRange; range *= 4) {
    const part = text.slice(0, start + range);
    const titles = parseBlocks(part, start).map(({ kind, text: title }) =>
      kind === 'heading' ? title?.trim() : undefined,
    );
    // The last block can be a heading that the range cuts off.
    const whole = part.length === text.length ? titles : titles.slice(0, -1);
    const title = whole.find((candidate) => candidate);
    if (title || part.length === text.length) return title?.replace(/\s+/g, ' ');
  }
  return undefined;
}

// The functions below edit a part of a text. For a text with conflict markers, they throw a
// MemoryError `conflict` without a path: its blocks belong to neither side of the merge, and an edit
// could remove a marker. Only a caller that replaces the whole text can resolve the conflict.

/**
 * Adds markdown to a section, below its text and above its first sub-heading.
 *
 * A missing section is created at the end of the text, at level 2. A list continues a list of its
 * kind directly above it. The markdown is added unchanged, except for blank lines at its ends.
 *
 * @param heading the heading's text, at any level, without regard to case and inline markdown; the
 *   first section with this heading is used.
 */
export function insertInSection(text: string, heading: string, markdown: string): string {
  return Document.forEdit(text).insert(heading, markdown);
}

/** Characters of a long text in which an edit first looks for its place. */
const beginning = 65_536;
/** A line that begins or ends a conflict which a merge left. */
const conflictMarker = /^(?:<{7}|>{7})(?: .*)?$/m;

/** Adds an item at the top of a section's first list, and creates them if they are missing. */
export function prependToList(text: string, heading: string, item: string): string {
  const document = beginningWithList(text, heading) ?? Document.forEdit(text);
  const list = document.list(heading);
  if (!list) return document.insert(heading, listText([item]));
  const at = lineStart(text, list.start);
  const added = listText([item], text.slice(at, list.start), list.marker);
  const gap = isLoose(text, list) ? '\n\n' : '\n';
  return text.slice(0, at) + document.native(added + gap) + text.slice(at);
}

/**
 * Parses only the beginning of a long text that contains the first items of a section's first list.
 *
 * A history with its newest entry at the top grows without end, and needs no more than this.
 */
function beginningWithList(text: string, heading: string): Document | undefined {
  if (text.length < 4 * beginning || conflictMarker.test(text)) return undefined;
  const document = new Document(text.slice(0, lineStart(text, beginning)));
  // The last block and the last item can continue below.
  return (document.list(heading)?.children.length ?? 0) > 2 ? document : undefined;
}

/**
 * Replaces the items of a section's first list; other text of the section stays.
 *
 * A missing section or list is created. Without items, the list is removed.
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
    const gap = meetsText && !endsInParagraph(text, list) ? '\n' : '';
    return text.slice(0, start) + document.native(added + gap) + text.slice(list.end);
  }
  const before = lineStart(text, start - (text.slice(0, start).endsWith('\r\n') ? 2 : 1));
  if (start > 0 && isBlankLine(text, before)) {
    return text.slice(0, meetsText ? start : before) + text.slice(next);
  }
  // The text above and below the list must not become one paragraph, or a heading.
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
 * Adds markdown, usually a heading with its text, at the end of the text.
 *
 * The markdown is added unchanged, except for blank lines at its ends.
 */
export function appendSection(text: string, markdown: string): string {
  const document = Document.forEdit(text);
  const added = withoutBlankEnds(markdown);
  return added === '' ? text : document.append(added);
}

class Document {
  /** The most frequent line end. */
  readonly eol: string;
  readonly sections: Section[] = [];
  readonly #text: string;
  readonly #blocks: readonly Block[];
  /** End of the last line that is not blank, or 0. */
  readonly #end: number;

  constructor(text: string) {
    this.#text = text;
    this.eol = dominantEol(text);
    // The blocks in items would be most of the blocks of a long list.
    this.#blocks = parseBlocks(text, contentStart(text), 2);
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

  /** Refuses conflict markers, except a whole conflict in a closed fence: no edit changes a fence. */
  #refuseConflict(): void {
    const fences = this.#blocks.filter(
      ({ kind, closer }) => kind === 'fence' && closer === undefined,
    );
    let next = 0;
    let begun: { readonly index: number; readonly fence: Block | undefined } | undefined;
    for (const { 0: marker, index } of this.#text.matchAll(new RegExp(conflictMarker, 'gm'))) {
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
      hint: 'resolve_conflicts merges it while git lists it as unmerged; otherwise resolve it in the file, or replace the whole file by its resolved text.',
    });
  }

  find(heading: string): Section | undefined {
    const wanted = plain(heading);
    return this.sections.find((section) => plain(section.heading) === wanted);
  }

  /** Returns the first list directly under a heading. */
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

  /** Inserts markdown after the last line before `end` that is not blank, between blank lines. */
  insertBefore(end: number, markdown: string, options = { joinLists: false }): string {
    const at = trimmedEnd(this.#text, end);
    const closer = at === this.#end ? this.#blocks.at(-1)?.closer : undefined;
    const after = this.#text.slice(at);
    const isEmpty = /^\uFEFF?$/.test(this.#text.slice(0, at));
    const gap = options.joinLists && this.#continuesList(at, markdown) ? '\n' : '\n\n';
    const above = isEmpty ? '' : closer === undefined ? gap : `\n${closer}\n\n`;
    const isOpen = after === '' || !isBlankLine(after, afterEol(after, 0));
    return this.#text.slice(0, at) + this.native(above + markdown + (isOpen ? '\n' : '')) + after;
  }

  /** Reports whether a tight list ends at `at` and the markdown begins with items of its kind. */
  #continuesList(at: number, markdown: string): boolean {
    const list = this.#blocks.find(({ end }) => end === at);
    // Without its indentation, which would make it code when it is parsed alone.
    const [first] = parseBlocks(markdown.trimStart());
    if (list?.kind !== 'list' || first?.kind !== 'list') return false;
    return list.marker === first.marker && !isLoose(this.#text, list);
  }

  /** Returns a text with the line ends of this document. */
  native(text: string): string {
    return text.replace(/\r\n?|\n/g, this.eol);
  }
}

/** Reports whether there is a blank line between the first two items of a list. */
function isLoose(text: string, list: Block): boolean {
  const [first, second] = list.children;
  const gap = first && second ? text.slice(first.end, second.start) : '';
  return (gap.match(/\r\n?|\n/g)?.length ?? 0) > 1;
}

/** Reports whether a line of text directly below a list would continue its last paragraph. */
function endsInParagraph(text: string, list: Block): boolean {
  const item = list.children.at(-1) ?? list;
  let last = parseBlocks(text.slice(lineStart(text, item.start), item.end)).at(-1);
  while (last && last.children.length > 0) last = last.children.at(-1);
  return last?.kind === 'paragraph';
}

/** Returns a heading's text for comparison: without inline markdown, case and repeated spaces. */
export function plain(heading: string): string {
  const text = heading
    .slice(0, 1_000)
    .normalize()
    .toLowerCase()
    .replace(/!?\[([^[\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/[*`]|~~|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\\(?=[!-/:-@[-`{-~])/gu, '');
  return (text || heading).replace(/\s+/g, ' ').trim();
}

/** Returns the offset of the first block: after a byte order mark and front matter. */
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
