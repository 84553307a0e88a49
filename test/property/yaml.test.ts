import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject, JsonValue } from '../../src/core/values/json.ts';
import { readCanonicalYaml } from '../../src/core/yaml/reader.ts';
import { writeYaml } from '../../src/core/yaml/writer.ts';
import { readYaml, rewriteYaml } from '../../src/core/yaml/yaml.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

/** Pieces that YAML, or a reader of an older version, could misread. */
const traps = [
  ...[
    'yes',
    'No',
    'on',
    'OFF',
    'y',
    'null',
    '~',
    'true',
    '1e3',
    '0x1F',
    '0o7',
    '017',
    '1_000',
    '.5',
  ],
  ...[
    '1:20',
    '190:20:30.15',
    '2024-01-01',
    '2001-12-14t21:59:43.10-05:00',
    '.inf',
    '-.INF',
    '.nan',
  ],
  ...[
    '-',
    '- ',
    '? ',
    ': ',
    ':',
    ' #',
    '#',
    '&a',
    '*a',
    '!t',
    '|',
    '>',
    "'",
    '"',
    '%',
    '@',
    '`',
    '=',
  ],
  ...[
    '<<',
    '[',
    ']',
    '{',
    '}',
    ',',
    '---',
    '...',
    '\\',
    '\\n',
    '${',
    '<<<<<<< HEAD',
    '=======',
    '>>>>>>> x',
  ],
  ...[
    '\n',
    '\r',
    '\r\n',
    '\t',
    ' ',
    '  ',
    '\n\n',
    '\0',
    '\x7f',
    '\x85',
    '\u2028',
    '\u2029',
    '\ufeff',
  ],
  ...[
    '\ufffe',
    '\ud800',
    '\udc00',
    '\u202e',
    '\u00a0',
    'é',
    'e\u0301',
    '日本',
    '🔴',
    'a',
    'word',
    '-0',
    '0',
  ],
];
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...traps), { maxLength: 8 }).map((parts) => parts.join('')),
  fc
    .array(fc.oneof(fc.constantFrom(...traps), fc.string()), { maxLength: 6 })
    .map((parts) => parts.join('\n')),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
);
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'id', 'k'.repeat(1200)));
const { object } = fc.letrec<{ value: JsonValue; list: JsonValue[]; object: JsonObject }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc
      .array(fc.tuple(key, tie('value')), { maxLength: 5 })
      .map((entries): JsonObject => Object.fromEntries(entries)),
  }),
);
/** Integer keys come first in any JavaScript object; other keys keep their order. */
const entries = (data: JsonValue): unknown =>
  Array.isArray(data)
    ? data.map(entries)
    : data !== null && typeof data === 'object'
      ? Object.entries(data).map(([name, item]) => [name, entries(item ?? null)])
      : data;

describe('canonical YAML', () => {
  it('is read back unchanged by the fast reader', () => {
    fc.assert(
      fc.property(object, (data) => {
        const written = writeYaml(data);
        const read = readYaml(written);
        expect(entries(read)).toStrictEqual(entries(data));
        if (!written.includes('? '))
          expect(entries(readCanonicalYaml(written) ?? null)).toStrictEqual(entries(data));
        expect(written.endsWith('\n')).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('means the same to the yaml package', () => {
    fc.assert(
      fc.property(object, (data) => {
        const read: JsonValue = parse(writeYaml(data), { stringKeys: true });
        expect(entries(read)).toStrictEqual(entries(data));
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('the fast reader', () => {
  it('reads no damaged text differently from the yaml package', () => {
    const damage = fc.tuple(fc.nat(), fc.constantFrom(...traps), fc.nat({ max: 4 }));
    fc.assert(
      fc.property(object, fc.array(damage, { minLength: 1, maxLength: 3 }), (data, damages) => {
        let written = writeYaml(data);
        for (const [place, trap, length] of damages) {
          const at = place % (written.length + 1);
          written = written.slice(0, at) + trap + written.slice(at + length);
        }
        const read = readCanonicalYaml(written);
        if (read === undefined) return;
        const other: JsonValue = parse(written, { stringKeys: true });
        expect(entries(read)).toStrictEqual(entries(other));
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('rewriteYaml', () => {
  it('writes the requested values', () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        for (const previous of [writeYaml(before), `# by hand\n${writeYaml(before)}`]) {
          const read = readYaml(rewriteYaml(previous, after));
          expect(isDeepStrictEqual(read, readYaml(writeYaml(after)))).toBe(true);
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
