import { saysNothing } from '../../../core/markdown/empty-sections.ts';
import type { LabelledText } from '../../../core/memory/search-hit.ts';
import type { HitPiece, Matched } from './hit-piece.ts';
import { around, onOneLine, type Range } from './passage-range.ts';
import { within } from './text-match.ts';

/** Limit of the rejected alternatives next to an answer, in UTF-16 code units, and of their items. */
export const rejectedLength = 120;
const mostItems = 400;

/** A mark of the option that was chosen. */
const chosen =
  /[✅✔☑]|[([](?:chosen|selected|accepted|gewählt|choisie?|retenue?|elegid[ao]|escolhid[ao]|选中|採用)[)\]]/i;
const bullet = /^([ \t>]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/;

interface Item extends Range {
  readonly piece: HitPiece;
  /** The first match; undefined for an item without one. */
  readonly match: Range | undefined;
}

/** The rejected alternatives of the first of some pieces, of which those with a match come into it first. */
export function rejectedText(pieces: readonly Matched[]): LabelledText | undefined {
  for (const { piece, matches } of pieces) {
    const items = itemsOf(piece).map(
      (range): Item => ({ ...range, piece, match: within(matches, range)[0] }),
    );
    const matching = items.filter(({ match }) => match);
    if (matching.length === 0) continue;
    const fitting = new Set<Item>();
    let left = rejectedLength;
    for (const item of [...matching, ...items.filter(({ match }) => !match)]) {
      const { length } = textOf(item);
      if (length + 2 > left && fitting.size > 0) continue;
      fitting.add(item);
      left -= length + 2;
    }
    const texts = items.filter((item) => fitting.has(item)).map(textOf);
    if (texts.length < items.length) texts.push('…');
    return { label: piece.kind?.label || 'not chosen', text: texts.join('; ') };
  }
  return undefined;
}

function textOf(item: Item): string {
  const { piece, start, end, match = { start, end: start } } = item;
  const text = onOneLine(piece.text.slice(start, end)).replace(/[.;,\s]+$/, '');
  return text.length <= rejectedLength ? text : around(piece.text, match, item, rejectedLength);
}

/** The items of a piece, or its paragraphs, without those that name the option which was chosen. */
function itemsOf({ text, start, end }: HitPiece): Range[] {
  const items: { start: number; end: number; indent: number }[] = [];
  let at = start;
  for (const line of text.slice(start, end).split(/(?<=\n)/)) {
    const [marker = '', space = ''] = bullet.exec(line) ?? [];
    const last = items.at(-1);
    const isInner = last !== undefined && marker !== '' && space.length > last.indent;
    const isOpen = last !== undefined && (isInner || (marker === '' && last.end === at));
    if (isOpen) last.end = at + line.length;
    else if (line.trim() !== '') {
      items.push({ start: at + marker.length, end: at + line.length, indent: space.length });
    }
    at += line.length;
    if (items.length >= mostItems) break;
  }
  return items.filter(({ start, end }) => {
    const item = text.slice(start, end).trim();
    return !saysNothing(item) && !chosen.test(item);
  });
}
