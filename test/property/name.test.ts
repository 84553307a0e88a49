import { describe, expect, it } from 'vitest';
import {
  encodeName,
  encodePath,
  fileNames,
  maxNameBytes,
  slug,
} from '../../src/core/names/name.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

const units = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
});
const pieces = fc.constantFrom(
  ...[
    'a',
    'A',
    'k',
    'K',
    '\u212a',
    's',
    'S',
    'ſ',
    'ß',
    'ẞ',
    'ss',
    'i',
    'I',
    'ı',
    'İ',
    'σ',
    'ς',
    'Σ',
    'ﬁ',
    'fi',
  ],
  ...[
    'é',
    'e\u0301',
    'É',
    'E\u0301',
    'ǰ',
    'j\u030c',
    'J\u030c',
    'Å',
    '\u212b',
    'å',
    'a\u030a',
    'ø\u0301',
    '\u0301',
  ],
  ...[
    '\u0345',
    'ᾳ',
    'ι',
    '가',
    '\u1100\u1161',
    'ა',
    'Ა',
    'ꭰ',
    'Ꭰ',
    'ϴ',
    'θ',
    'µ',
    'μ',
    '\u200d',
    '\ufe0f',
    '\u3164',
  ],
  ...[
    '.',
    '..',
    '/',
    '\\',
    '~',
    '~1',
    '%',
    '%41',
    '%c3',
    '+',
    '-',
    '_',
    ' ',
    ':',
    '\0',
    'con',
    'NUL',
    'com1',
    'git',
  ],
  ...[
    '.yaml',
    '.md',
    '.YAML',
    '~~',
    '\ud800',
    '\udc00',
    '🔴',
    '日',
    'ж',
    'Ж',
    '\u202e',
    'x'.repeat(60),
    'X'.repeat(60),
  ],
);
const text = fc.oneof(
  units,
  fc.string({ unit: 'binary' }),
  fc.array(pieces, { maxLength: 5 }).map((parts) => parts.join('')),
);
/** A name as compared by file systems that ignore case and normal forms. */
const folded = [
  (name: string) => name.toLowerCase().normalize('NFD'),
  (name: string) => name.normalize('NFD').toUpperCase().normalize('NFKD'),
  (name: string) => name.toUpperCase().toLowerCase().normalize('NFKC'),
];
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

describe('encodeName', () => {
  it('gives different texts different names on every file system', () => {
    const seen = folded.map(() => new Map<string, string>());
    fc.assert(
      fc.property(text, (value) => {
        folded.forEach((fold, i) => {
          const name = fold(encodeName(value));
          const before = seen[i]?.get(name);
          if (before !== undefined) expect(before).toBe(value);
          seen[i]?.set(name, value);
        });
      }),
      { numRuns: runs(20_000) },
    );
  });

  it('gives a text and its variants different names', () => {
    const variant = fc.constantFrom(
      (value: string) => value.toLowerCase(),
      (value: string) => value.toUpperCase(),
      (value: string) => value.normalize('NFC'),
      (value: string) => value.normalize('NFD'),
      (value: string) => value.normalize('NFKC'),
      (value: string) => encodeName(value),
      (value: string) => value.replace(/[\ud800-\udfff]/gu, '\ufffd'),
      (value: string) => `${value}.`,
      (value: string) => value.replace(/[\u200d\ufe0f\u3164]/g, ''),
    );
    fc.assert(
      fc.property(text, variant, (value, change) => {
        const other = change(value);
        for (const fold of folded) {
          expect(fold(encodeName(value)) === fold(encodeName(other))).toBe(value === other);
        }
      }),
      { numRuns: runs(10_000) },
    );
  });

  it('makes names that are valid on every file system', () => {
    fc.assert(
      fc.property(text, (value) => {
        const name = encodeName(value);
        expect(name).not.toMatch(
          /[\x00-\x20/\\:*?"<>|+\x7f]|^[.-]|\.$|^[^~]{1,6}~\d|[\ud800-\udfff]/u,
        );
        expect(name).not.toMatch(device);
        expect(name).not.toBe('');
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(maxNameBytes);
        expect(name.normalize('NFC')).toBe(name);
      }),
      { numRuns: runs(10_000) },
    );
  });
});

describe('fileNames', () => {
  it('need no encoding, and neither does the one with a hash', () => {
    fc.assert(
      fc.property(text, (value) => {
        const [name = '', hashed = ''] = fileNames(value);
        expect(encodeName(name)).toBe(name);
        expect(encodeName(hashed)).toBe(hashed);
        expect(Buffer.byteLength(hashed)).toBeLessThanOrEqual(maxNameBytes);
      }),
      { numRuns: runs(10_000) },
    );
  });
});

describe('encodePath', () => {
  it('never leads out of its folder, and no folder looks like a record file', () => {
    fc.assert(
      fc.property(fc.array(text), (values) => {
        const names = encodePath(values.join('/')).split('/');
        expect(names.some((name) => name === '' || /^\.{1,2}$/.test(name))).toBe(false);
        expect(names.slice(0, -1).some((name) => /\.(?:yaml|md)$/i.test(name))).toBe(false);
      }),
    );
  });
});

describe('slug', () => {
  it('is a name that needs no encoding', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 80 }), (value, limit) => {
        const name = slug(value, limit);
        expect(encodeName(name)).toBe(name);
        expect(name).not.toMatch(/--|^-|-$/);
        expect(name.length).toBeLessThanOrEqual(Math.max(limit, 'untitled-com1'.length));
      }),
      { numRuns: runs(10_000) },
    );
  });
});
