import type { Sides } from './diff3.ts';
import type { Piece } from './pieces.ts';
import type { Slot } from './spacing.ts';

const time = /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[:.\d]*)?/.source;
const leading = new RegExp(`^\\W*(${time})`);
const leadingItem = new RegExp(`^\\s*[-+*]\\W*${time}`);
const trailing = new RegExp(`(${time})\\W*$`);

/**
 * What both sides added in one place, in the order of the dates that the entries begin or end with:
 * newest first where the list is so.
 *
 * What one side added stays in its own order. With the same date, and where one has none or an order of
 * its own, ours comes first.
 */
export function byDate(
  ours: readonly Piece[],
  theirs: readonly Piece[],
  newestFirst: boolean,
): Slot[] {
  const direction = newestFirst ? -1 : 1;
  const comesLater = (a: Piece, b: Piece) => direction * compare(dateOf(a), dateOf(b)) > 0;
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

/** Whether a list has its newest entry at the top; one that does not show it has, if its items begin with their dates. */
export function isNewestFirst({ ours, theirs }: Sides<readonly Piece[]>): boolean {
  let trend = 0;
  let leads = false;
  for (const pieces of [ours, theirs]) {
    let above = '';
    for (const piece of pieces) {
      const date = dateOf(piece);
      if (above !== '' && date !== '') trend += compare(date, above);
      if (date !== '') above = date;
      leads ||= leadingItem.test(piece.head[0] ?? '');
    }
  }
  return trend < 0 || (trend === 0 && leads);
}

/** ISO 8601, so that the text sorts like the time; empty where there is none. */
function dateOf({ head: [line = ''] }: Piece): string {
  return leading.exec(line)?.[1] ?? trailing.exec(line)?.[1] ?? '';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
