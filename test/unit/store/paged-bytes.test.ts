import { describe, expect, test } from 'vitest';
import { PagedBytes, pageBytes } from '../../../src/store/derived/paged-bytes.ts';
import { SectionFile, sectionFile } from '../../../src/store/derived/section-file.ts';
import { Random } from '../../support/random.ts';

const random = new Random(7);
const content = Buffer.from(Array.from({ length: 200_000 }, () => 32 + random.below(90)));
const written = Buffer.concat(sectionFile('mark', pageBytes(content)));

/** The bytes of a file that is read in parts; the parts that were read are listed. */
function open(file: Buffer, reads: [from: number, length: number][] = []): PagedBytes {
  const read = (offset: number, length: number) => {
    reads.push([offset, length]);
    return Buffer.from(file.subarray(offset, offset + length));
  };
  const opened = SectionFile.open({ length: file.length, read }, 'mark');
  const bytes = opened && PagedBytes.read(opened, 0, false);
  if (!bytes) throw new Error('The file cannot be read.');
  return bytes;
}

describe('bytes that are read in parts', () => {
  test('are those of the file, also across the blocks that are read at once', () => {
    const bytes = open(written);
    for (let i = 0; i < 500; i++) {
      const from = random.below(content.length);
      const to = Math.min(content.length, from + random.below(i % 5 === 0 ? 150_000 : 300));
      expect(Buffer.from(bytes.range(from, to)).equals(content.subarray(from, to))).toBe(true);
      expect(bytes.text(from, to)).toBe(content.toString('utf8', from, to));
    }
  });

  test('are read once, where a range is in one block', () => {
    const reads: [number, number][] = [];
    const bytes = open(written, reads);
    const before = reads.length;
    for (let at = 0; at < 60_000; at += 100) bytes.range(at, at + 100);
    expect(reads).toHaveLength(before + 1);
  });

  test('fail where they are damaged, and only there', () => {
    const damaged = Buffer.from(written);
    const at = damaged.indexOf(content.subarray(100_000, 100_050));
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    const bytes = open(damaged);
    expect(bytes.text(90_000, 90_100)).toBe(content.toString('utf8', 90_000, 90_100));
    expect(() => bytes.range(100_000, 100_010)).toThrow('damaged');
    expect(() => bytes.range(10, 150_000)).toThrow('damaged');
    expect(() => bytes.range(199_990, 200_010)).toThrow('damaged');
  });
});
