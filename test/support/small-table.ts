import { tableDimensions } from '../../src/store/search/meaning/packed-vector.ts';
import { WordTable, wordTableFile } from '../../src/store/search/meaning/word-table.ts';
import { stem } from '../../src/store/search/text/analyser.ts';
import { seeded } from './seeded.ts';

/** Words with one meaning each; the words of a group have nearly the same vector. */
const groups = [
  ['authentication', 'jwt', 'login'],
  ['database', 'postgresql', 'datenbank'],
  ['mutex', 'lock', 'semaphore'],
  ['tailwind', 'css', 'style'],
  ['garden', 'cat', 'sleep'],
];

/** The bytes of a table of a few words. */
export function smallTableBytes(): Uint8Array {
  const random = seeded(7);
  const vector = () => Float64Array.from({ length: tableDimensions }, () => 2 * random() - 1);
  const found = new Map<string, Float64Array>();
  for (const group of groups) {
    const common = vector();
    for (const word of group) {
      const own = vector();
      found.set(
        stem(word),
        common.map((value, at) => value + 0.2 * (own[at] ?? 0)),
      );
    }
  }
  const words = [...found.keys()].sort();
  const vectors = words.map((word) => found.get(word) ?? vector());
  const shares = words.map(() => 1 / words.length / 1000);
  return Buffer.concat(wordTableFile(words, shares, (at) => vectors[at] ?? vector()));
}

export function smallTable(): WordTable {
  const table = WordTable.read(smallTableBytes());
  if (!table) throw new Error('The table cannot be read.');
  return table;
}
