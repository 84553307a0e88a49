import type { PackedTexts, TextList } from './packed-texts.ts';
import type { Postings } from './postings.ts';

/** The words and terms of a saved index; nothing of it changes. */
export interface StoredWords {
  /** Sorted. */
  readonly words: PackedTexts;
  /** Sorted. */
  readonly terms: PackedTexts;
  /** The place of the term of each word. */
  readonly termOf: Uint32Array;
  /** How many tokens each word has. */
  readonly uses: Uint32Array;
  postings(term: number): Postings;
}

/** Returns the place of a text in a sorted list; -1 if it is not there. */
export function placeIn(sorted: TextList, text: string): number {
  const place = placeFrom(sorted, text);
  return sorted.at(place) === text ? place : -1;
}

/** Returns the place of a text in a sorted list, or the one where it belongs. */
export function placeFrom(sorted: TextList, text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted.at(middle) ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the places of the words in a sorted list that are at most `most` edits away from a text.
 *
 * Neighbours share the beginning of their table of distances, and a beginning that is too far away
 * rules out all words with it.
 */
export function near(sorted: PackedTexts, text: string, most: number): number[] {
  const found: number[] = [];
  const rows: Uint8Array[] = [Uint8Array.from({ length: text.length + 1 }, (_, at) => at)];
  /** The number of letters of the word before whose rows are computed. */
  let computed = 0;
  let isTooFar = false;
  for (let place = 0; place < sorted.length; place++) {
    if (isTooFar) place = sorted.unlike(place, computed);
    if (place >= sorted.length) break;
    let depth = Math.min(sorted.shared(place), computed);
    isTooFar = false;
    const word = sorted.at(place) ?? '';
    while (depth < word.length && !isTooFar) {
      isTooFar = addRow(rows, depth, word.charCodeAt(depth), text) > most;
      depth += 1;
    }
    computed = depth;
    if (!isTooFar && (rows[depth]?.[text.length] ?? most + 1) <= most) found.push(place);
  }
  return found;
}

/** Computes the distances of a beginning that is one letter longer; returns the least of them. */
function addRow(rows: Uint8Array[], depth: number, letter: number, text: string): number {
  const above = rows[depth] as Uint8Array;
  rows[depth + 1] ??= new Uint8Array(text.length + 1);
  const row = rows[depth + 1] as Uint8Array;
  let least = Math.min(255, depth + 1);
  row[0] = least;
  for (let at = 1; at <= text.length; at++) {
    const changed = (above[at - 1] ?? 0) + (text.charCodeAt(at - 1) === letter ? 0 : 1);
    const value = Math.min(255, changed, (above[at] ?? 0) + 1, (row[at - 1] ?? 0) + 1);
    row[at] = value;
    if (value < least) least = value;
  }
  return least;
}
