import type { TextList } from '../../derived/text-list.ts';
import type { Postings } from './postings.ts';

/** The words and terms of a saved index; nothing of it changes. */
export interface StoredWords {
  /** Sorted. */
  readonly words: TextList;
  /** Sorted. */
  readonly terms: TextList;
  /** The `lettersOf` each word. */
  readonly letters: Uint32Array;
  /** The place of the term of each word. */
  readonly termOf: Uint32Array;
  /** How many tokens each word has. */
  readonly uses: Uint32Array;
  postings(term: number): Postings;
}

/** The letters of a word as bits; a few letters share a bit. */
export function lettersOf(word: string): number {
  let bits = 0;
  for (let at = 0; at < word.length; at++) bits |= 1 << (word.charCodeAt(at) & 31);
  return bits >>> 0;
}

/** Returns the places of the words that are at most one or two edits away from a text. */
export function near({ words, letters }: StoredWords, text: string, most: 1 | 2): number[] {
  const found: number[] = [];
  const own = lettersOf(text);
  for (let place = 0; place < letters.length; place++) {
    let changed = (letters[place] as number) ^ own;
    // An edit changes at most two bits, which rules out nearly all words.
    changed &= changed - 1;
    changed &= changed - 1;
    if (changed !== 0) {
      if (most === 1) continue;
      changed &= changed - 1;
      changed &= changed - 1;
      if (changed !== 0) continue;
    }
    if (areNear(words.at(place) ?? '', text, most)) found.push(place);
  }
  return found;
}

/** Whether one text becomes the other by at most `most` edits of one letter each. */
function areNear(one: string, other: string, most: number): boolean {
  if (Math.abs(one.length - other.length) > most) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  const [rest, others] = [one.slice(start), other.slice(start)];
  if (rest === '' || others === '') return true;
  if (most === 0) return false;
  const isNear = (skipped: number, othersSkipped: number) =>
    areNear(rest.slice(skipped), others.slice(othersSkipped), most - 1);
  return isNear(1, 1) || isNear(1, 0) || isNear(0, 1);
}
