/** A part of a text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where a sentence, a list item, the row of a table or a paragraph ends and the next begins. */
const borders =
  /(?<!(?:^|[\r\n])[ \t>]*\d{1,3})[.!?…][)\]"'”’*_]*\s+|[。！？]\s*|\r?\n(?:[ \t]*\r?\n)+|\r?\n(?=[ \t]*(?:[-*+]|\d+[.)]|#{1,6}|>)[ \t]|[ \t]*\|)/gu;

/** Comments, the fences of code, and the rule below the head of a table. */
const silent =
  /<!--[\s\S]*?(?:-->|$)|^[ \t>]*(?:`{3,}|~{3,})[^`\n]*$|^[ \t>]*\|[\s:|-]*-[\s:|-]*\|[ \t]*$/gmu;

/** The next line is blank, or begins an item, a heading, a quotation or a row. */
const lineBorder = /\r?\n(?:[ \t]*\r?\n|[ \t]*(?:(?:[-*+]|\d+[.)]|#{1,6}|>)[ \t]|\|))/y;

/**
 * Returns the start of the sentence, list item or row that an offset is in; the same borders as those of
 * `borders`, but found without looking at all of the text around them.
 *
 * @param low no earlier offset is looked at.
 */
export function sentenceStart(text: string, offset: number, low: number): number {
  let first = offset;
  for (let at = offset - 1; at >= low; at--) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) {
      if (code === lineFeed && isLineBorder(text, at)) return first;
    } else {
      if (isWideStop(code) || (isSpace(text.charCodeAt(at + 1)) && endsSentence(text, at, low))) {
        return first;
      }
      first = at;
    }
  }
  return low;
}

/** Returns the end of the sentence, list item or row that an offset is in, with the space after it. */
export function sentenceEnd(text: string, offset: number, high: number): number {
  for (let at = offset; at < high; at++) {
    const code = text.charCodeAt(at);
    const isEnd = isSpace(code)
      ? (code === lineFeed && isLineBorder(text, at)) || endsSentence(text, at - 1, offset)
      : isWideStop(code);
    if (!isEnd) continue;
    let next = at + 1;
    while (next < high && isSpace(text.charCodeAt(next))) next += 1;
    return next;
  }
  return high;
}

const lineFeed = 10;

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0;
}

function isWideStop(code: number): boolean {
  return code === 0x3002 || code === 0xff01 || code === 0xff1f;
}

function isLineBorder(text: string, at: number): boolean {
  lineBorder.lastIndex = at;
  return lineBorder.test(text);
}

/** Whether a sentence ends with a character, before which quotation marks and brackets may be closed. */
function endsSentence(text: string, last: number, low: number): boolean {
  let at = last;
  while (at > low && `)]"'”’*_`.includes(text.charAt(at))) at -= 1;
  return at >= low && '.!?…'.includes(text.charAt(at)) && !isItemNumber(text, at);
}

/** Whether a stop is that after the number of a list item. */
function isItemNumber(text: string, stop: number): boolean {
  return /(?:^|[\r\n])[ \t>]*\d{1,3}$/.test(text.slice(Math.max(0, stop - 20), stop));
}

/**
 * Returns the sentences or list items around a range, with as many neighbours as fit.
 *
 * @param area the passage does not leave it.
 * @returns undefined if the range itself does not fit with its sentences.
 */
export function whole(text: string, range: Range, area: Range, length: number): string | undefined {
  const low = Math.max(area.start, range.start - length);
  const high = Math.min(area.end, range.end + length);
  const cuts = [...text.slice(low, high).matchAll(borders)].map((m) => low + m.index + m[0].length);
  if (low === area.start) cuts.unshift(low);
  if (high === area.end) cuts.push(high);
  let first = cuts.findLastIndex((cut) => cut <= range.start);
  let last = cuts.findIndex((cut) => cut >= range.end && cut > (cuts[first] ?? high));
  const size = (from: number, to: number) => {
    const [start, end] = [cuts[from], cuts[to]];
    if (start === undefined || end === undefined) return Number.POSITIVE_INFINITY;
    return text.slice(start, end).trim().length;
  };
  if (size(first, last) > length) return undefined;
  while (size(first, last + 1) <= length) last += 1;
  while (size(first - 1, last) <= length) first -= 1;
  return show(text, { start: cuts[first] ?? low, end: cuts[last] ?? high }, area);
}

/** Returns the text around a range, cut between words and never inside a character. */
export function around(text: string, range: Range, area: Range, length: number): string {
  const { start } = range;
  const stop = Math.min(range.end, start + 2 * length);
  const margin = Math.max(0, Math.floor((length - (stop - start)) / 2));
  let from = Math.max(area.start, start - margin);
  let to = Math.min(area.end, stop + margin);
  if (from > area.start) {
    const space = text.slice(from, start).search(/\s/u);
    from = space < 0 ? from : from + space + 1;
  }
  if (to < area.end) {
    const rest = text.slice(stop, to);
    const space = rest.search(/\s\S*$/u);
    to = space < 0 ? to : stop + space;
  }
  return show(text, { start: boundary(text, from, 'start'), end: boundary(text, to, 'end') }, area);
}

/** Puts a passage on one line; an ellipsis says that the area has more text on that side. */
export function show(text: string, { start, end }: Range, area: Range): string {
  const before = hasText(text, area.start, start) ? '…' : '';
  return `${before}${onOneLine(text.slice(start, end))}${hasText(text, end, area.end) ? '…' : ''}`;
}

/** Puts a piece of markdown on one line, without what a reader does not see or need. */
export function onOneLine(text: string): string {
  const hasSigns = text.includes('|') || text.includes('<!--') || /`{3}|~{3}/.test(text);
  const plain = hasSigns ? text.replace(silent, '').replace(rows, rowText) : text;
  const line = (/[^\S ]| {2}/u.test(plain) ? plain.replace(/\s+/gu, ' ') : plain).trim();
  return line.startsWith('#') ? line.replace(/^#{1,6} /u, '') : line;
}

const rows = /^[ \t>]*\|(.*)\|[ \t]*$/gmu;

function rowText(_: string, cells: string): string {
  return `${cells
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .join(' | ')};`;
}

function hasText(text: string, start: number, end: number): boolean {
  return /\S/u.test(text.slice(start, end));
}

/** Two code units between which a character always ends: Latin letters, signs and line ends. */
const separate = /^[\t\n -\u02ff\u2010-\u2027\u2030-\u205e]{0,2}$/;

let characters: Intl.Segmenter | undefined;

/** Moves a cut from inside a character to its start or end. */
function boundary(text: string, at: number, side: 'start' | 'end'): number {
  // A segmenter is slow to construct.
  if (separate.test(text.slice(Math.max(0, at - 1), at + 1))) return at;
  characters ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  // A short context is enough; segmenting all of a long text is slow.
  const base = Math.max(0, at - 64);
  const around = characters.segment(text.slice(base, at + 64)).containing(at - base);
  if (around === undefined || base + around.index === at) return at;
  return base + around.index + (side === 'start' ? 0 : around.segment.length);
}
