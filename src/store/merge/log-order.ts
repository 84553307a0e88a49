import { compareTexts } from '../../core/values/text-order.ts';
import type { Sides } from './diff3.ts';
import type { Piece } from './pieces.ts';
import type { Slot } from './spacing.ts';

const time = /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[:.\d]*)?/.source;
const leading = new RegExp(`^\\W*(${time})`);
const leadingItem = new RegExp(`^\\s*[-+*]\\W*${time}`);
const trailing = new RegExp(`(${time})\\W*$`);

/**
 * Sorts the entries that both sides added in one place, by the dates that they begin or end with.
 *
 * The newest is first if the list is so. The entries of one side keep their order. Ours come first
 * among equal dates, and if an entry has no date or a side is not sorted.
 */
export function byDate(
  ours: readonly Piece[],
  theirs: readonly Piece[],
  newestFirst: boolean,
): Slot[] {
  const direction = newestFirst ? -1 : 1;
  const comesLater = (a: Piece, b: Piece) => direction * compareTexts(dateOf(a), dateOf(b)) > 0;
  const isSorted = [ours, theirs].every((pieces) =>
    pieces.every((piece, i) => {
      const above = pieces[i - 1];
      return dateOf(piece) !== '' && !(above && comesLater(above, piece));
    }),
  );
  const slots: Slot[] = [];
  let next = 0;
  for (const piece of ours) {
    for (let other = theirs[next]; isSorted && other && comesLater(piece, other); ) {
      slots.push({ theirs: other });
      other = theirs[++next];
    }
    slots.push({ ours: piece });
  }
  return [...slots, ...theirs.slice(next).map((piece) => ({ theirs: piece }))];
}

/** Whether the newest entry of a list is at the top; if unclear, whether items begin with a date. */
export function isNewestFirst({ ours, theirs }: Sides<readonly Piece[]>): boolean {
  let trend = 0;
  let leads = false;
  for (const pieces of [ours, theirs]) {
    let above = '';
    for (const piece of pieces) {
      const date = dateOf(piece);
      if (above !== '' && date !== '') trend += compareTexts(date, above);
      if (date !== '') above = date;
      leads ||= leadingItem.test(piece.head[0] ?? '');
    }
  }
  return trend < 0 || (trend === 0 && leads);
}

/** The date of an entry in ISO 8601, which sorts as text; empty if it has none. */
function dateOf({ head: [line = ''] }: Piece): string {
  return leading.exec(line)?.[1] ?? trailing.exec(line)?.[1] ?? '';
}
