import { expect, test } from 'vitest';
import { lettersOf, near, type StoredWords } from '../../../src/store/search/terms/stored-words.ts';
import { Random } from '../../support/random.ts';

/** The number of edits of one letter that make one text of another. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

test.each([1, 2] as const)('the words at most %d edits away are found, and no others', (most) => {
  const random = new Random(3);
  const word = () =>
    Array.from({ length: random.below(7) }, () => 'abcäñ'[random.below(5)]).join('');
  const words = [...new Set(Array.from({ length: 1_500 }, word))].sort();
  const stored = {
    words: { length: words.length, at: (place: number) => words[place] },
    letters: Uint32Array.from(words, lettersOf),
  } as unknown as StoredWords;
  for (let i = 0; i < 60; i++) {
    const text = word();
    const wanted = words.flatMap((one, place) => (distance(one, text) <= most ? [place] : []));
    expect(near(stored, text, most), text).toEqual(wanted);
  }
});
