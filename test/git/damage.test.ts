import { describe, expect, test } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { IndexFile } from '../../src/git/index/index-file.ts';
import { parseCommit } from '../../src/git/objects/object.ts';
import { sha1 } from '../../src/git/objects/object-format.ts';
import { applyDelta } from '../../src/git/objects/pack.ts';
import { listTree } from '../../src/git/objects/tree.ts';
import { parseConfig } from '../../src/git/repository/config-text.ts';

/** An index of this many bytes with one line, which states the length of its name. */
function oneLine(version: number, length: number, nameLength: number): Buffer {
  const bytes = Buffer.alloc(12 + length + 20, 0xff);
  bytes.write('DIRC', 0, 'latin1');
  bytes.writeUInt32BE(version, 4);
  bytes.writeUInt32BE(1, 8);
  bytes.writeUInt16BE(nameLength, 12 + 60);
  return bytes;
}

const base = Buffer.from('base');

// Cases found by fuzzing (`npm run fuzz`).
describe('damage is reported as damage:', () => {
  test.each<[string, () => unknown]>([
    ['a difference that ends early', () => applyDelta(base, Buffer.from([4, 8, 0x91]))],
    ['an insertion of more than is there', () => applyDelta(base, Buffer.from([4, 8, 8, 0x61]))],
    ['a number that never ends', () => applyDelta(base, Buffer.alloc(2000, 0x80))],
    ['another base', () => applyDelta(base, Buffer.from([9, 1, 1, 0x61]))],
    ['nothing', () => applyDelta(base, Buffer.alloc(0))],
    ['a tree that ends early', () => listTree(Buffer.from('100644 a\0short'), sha1)],
    ['a tree without names', () => listTree(Buffer.from('100644'), sha1)],
    ['an index whose name goes on', () => IndexFile.read(oneLine(4, 62, 0), sha1)],
    // By the length of its name, it ends where the checksum ends.
    [
      'an index whose last name goes beyond the lines',
      () => IndexFile.read(oneLine(2, 72, 20), sha1),
    ],
  ])('%s', (_, work) => {
    expect(work).toThrow(MemoryError);
    expect(work).toThrow(expect.objectContaining({ code: 'damaged' }));
  });
});

describe('the time for a text is proportional to its length:', () => {
  test.each<[string, (size: number) => unknown]>([
    ['a section that never closes', (size) => parseConfig(`[a${' '.repeat(size)}`)],
    ['backslashes', (size) => parseConfig(`[a]\nb = ${'\\'.repeat(size)}x`)],
    ['lines that go on', (size) => parseConfig(`[a]\nb = ${'\\\n'.repeat(size)}`)],
    ['an author of brackets', (size) => parseCommit(Buffer.from(`author ${'<'.repeat(size)}`))],
  ])('%s', (_, work) => {
    const spent = (size: number) => {
      const start = process.cpuUsage();
      work(size);
      const { user, system } = process.cpuUsage(start);
      return user + system;
    };
    spent(1000);
    const usual = Math.max(spent(10_000), 2000);
    // Ten times the length; quadratic work would take a hundred times the time.
    expect(Math.min(spent(100_000), spent(100_000))).toBeLessThan(40 * usual);
  });
});
