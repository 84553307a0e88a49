import { describe, expect, test } from 'vitest';
import { SectionFile, sectionFile } from '../../../src/store/derived/section-file.ts';
import {
  DeflatedTextsWriter,
  packTexts,
  placeFrom,
  placeIn,
  StoredTexts,
} from '../../../src/store/derived/text-list.ts';
import { Random } from '../../support/random.ts';

const random = new Random(11);
const word = () => String.fromCodePoint(...Array.from({ length: 8 }, () => 97 + random.below(26)));
/** Short, long and empty texts, some of them not ASCII. */
const texts = Array.from({ length: 900 }, (_, i) => {
  if (i % 90 === 0) return '';
  if (i % 200 === 7) return word().repeat(5_000);
  return i % 3 === 0 ? `${word()} – 数据 ${i}` : `${word()} ${word()} ${i}`;
});

function deflate(list: readonly string[]): Uint8Array[] {
  const writer = new DeflatedTextsWriter();
  for (const text of list) writer.add(text);
  return writer.finish();
}

/** The list in a file that is read in parts. */
function stored(file: Buffer, form: 'packed' | 'deflated'): StoredTexts {
  const read = (offset: number, length: number) =>
    Buffer.from(file.subarray(offset, offset + length));
  const opened = SectionFile.open({ length: file.length, read }, 'mark');
  const list =
    opened &&
    (form === 'packed' ? StoredTexts.read(opened, 0, false) : StoredTexts.readDeflated(opened, 0));
  if (!list) throw new Error('The file cannot be read.');
  return list;
}

describe.each([
  ['packed', packTexts],
  ['deflated', deflate],
] as const)('a %s list of texts', (form, encode) => {
  const fileOf = (list: readonly string[]) => Buffer.concat(sectionFile('mark', encode(list)));

  test('has the texts that were written, in any order of reading', () => {
    const list = stored(fileOf(texts), form);
    expect(list).toHaveLength(texts.length);
    for (let i = 0; i < 2_000; i++) {
      const place = random.below(texts.length);
      expect(list.at(place)).toBe(texts[place]);
    }
    expect([list.at(-1), list.at(texts.length)]).toEqual([undefined, undefined]);
    for (const few of [[], [''], ['', '']]) {
      const short = stored(fileOf(few), form);
      expect(few.map((_, place) => short.at(place))).toEqual(few);
      expect(short.at(few.length)).toBeUndefined();
    }
  });

  test('finds a text if it is sorted', () => {
    const sorted = [...new Set(texts)].sort();
    const list = stored(fileOf(sorted), form);
    for (const [place, text] of sorted.entries()) expect(placeIn(list, text)).toBe(place);
    expect(placeIn(list, 'a missing one')).toBe(-1);
    expect(placeFrom(list, '\u{10ffff}')).toBe(sorted.length);
  });

  test('fails where it is damaged, and only there', () => {
    const file = fileOf(texts);
    // The last byte of the bytes, which are the second section.
    const end = file.readUInt32LE(32 + 12) + file.readUInt32LE(32 + 16);
    file[end - 2] = (file[end - 2] ?? 0) ^ 1;
    const list = stored(file, form);
    expect(list.at(1)).toBe(texts[1]);
    expect(() => list.at(texts.length - 1)).toThrow('damaged');
  });
});
