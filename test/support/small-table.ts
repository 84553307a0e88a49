import { bytesOf, SectionFile, sectionFile } from '../../src/store/derived/section-file.ts';
import { tableDimensions } from '../../src/store/search/meaning/packed-vector.ts';
import { tableMark, WordTable, wordTableFile } from '../../src/store/search/meaning/word-table.ts';
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

/** Numbers that replace those of a table; its checksums are right. */
export interface Hostile {
  readonly ends?: readonly number[];
  readonly slots?: readonly number[];
  readonly factor?: number;
  readonly usual?: number;
}

/** The bytes of a table of a few words with other numbers. */
export function hostileTable({ ends, slots, factor, usual }: Hostile): Uint8Array {
  const file = SectionFile.open(smallTableBytes(), tableMark);
  const sections: Uint8Array[] = [];
  for (let at = 0; file?.has(at); at++) sections.push(Uint8Array.from(file.section(at) ?? []));
  const [, own = new Uint8Array(), , , places = new Uint8Array(), vectors, direction] = sections;
  new Uint32Array(own.buffer).set(ends ?? []);
  if (slots) new Uint16Array(places.buffer).fill(0).set(slots);
  if (factor !== undefined && vectors) {
    const floats = new Float32Array(vectors.buffer);
    for (let at = 0; at < floats.length; at += 10) floats[at] = factor;
  }
  if (usual !== undefined && direction) new Float64Array(direction.buffer).fill(usual);
  return Buffer.concat(
    sectionFile(
      tableMark,
      sections.map((one) => bytesOf(one)),
    ),
  );
}
