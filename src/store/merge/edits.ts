import type { Region, Sides } from './diff3.ts';
import type { Piece } from './pieces.ts';

/** Smallest share of words that two versions of one item have in common. */
const minLikeness = 0.5;
/** Items with more words than this are compared by their first ones. */
const maxWords = 200;
/** In a region with more items than this, edits are not paired. */
const maxItems = 100;

/**
 * Gives both versions of an item that both sides edited the same key, so that they merge as one item.
 *
 * An item is identified by its text; if both sides edited it, only similarity identifies it.
 *
 * @param known all pieces of each version by their keys.
 */
export function pairEdits(
  region: Region<Piece>,
  known: Sides<ReadonlyMap<string, Piece>>,
): Region<Piece> {
  const { base, ours, theirs } = region;
  if (Math.max(base.length, ours.length, theirs.length) > maxItems) return region;
  const isNew = ({ kind, key }: Piece) => kind === 'item' && !known.base.has(key);
  const left = new Set(ours.filter((piece) => isNew(piece) && !known.theirs.has(piece.key)));
  const right = new Set(theirs.filter((piece) => isNew(piece) && !known.ours.has(piece.key)));
  const keys = new Map<Piece, string>();
  for (const piece of base) {
    if (piece.kind !== 'item' || known.ours.has(piece.key) || known.theirs.has(piece.key)) continue;
    const mine = closest(piece, left);
    const other = closest(piece, right);
    if (!mine || !other) continue;
    left.delete(mine);
    right.delete(other);
    keys.set(piece, mine.key).set(other, mine.key);
  }
  const keyed = (pieces: readonly Piece[]) =>
    pieces.map((piece) => ({ ...piece, key: keys.get(piece) ?? piece.key }));
  return keys.size === 0 ? region : { ...region, base: keyed(base), theirs: keyed(theirs) };
}

function closest(piece: Piece, candidates: Iterable<Piece>): Piece | undefined {
  let best: Piece | undefined;
  let most = minLikeness;
  for (const candidate of candidates) {
    const share = likeness(piece.label, candidate.label);
    if (share >= most && (best === undefined || share > most)) [best, most] = [candidate, share];
  }
  return best;
}

/** Twice the number of common words, divided by the number of all words. */
function likeness(a: string, b: string): number {
  const left = words(a);
  const right = words(b);
  const shared = [...left].filter((word) => right.has(word)).length;
  return (2 * shared) / Math.max(1, left.size + right.size);
}

function words(text: string): Set<string> {
  return new Set(
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, maxWords),
  );
}
