import { expect, test } from 'vitest';
import {
  findReferences,
  formatReference,
  isProjectPath,
  parseReference,
} from '../../src/core/evidence/reference.ts';
import { SpanText } from '../../src/core/evidence/span.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const path = fc.tuple(fc.array(name, { maxLength: 3 }), name).map(([folders, file]) => {
  return [...folders, `${file}.ts`].join('/');
});
const lines = fc
  .tuple(fc.integer({ min: 1, max: 5000 }), fc.nat(40))
  .map(([first, more]) => ({ first, last: first + more }));

test('a reference that is written into a text is found in it', () => {
  const around = fc.constantFrom(
    ['', ''],
    ['`', '`'],
    ['``', '``'],
    ['(', ').'],
    ['see ', ', and'],
    ['[x](', ')'],
  );
  fc.assert(
    fc.property(
      path,
      fc.option(lines, { nil: undefined }),
      around,
      (path, lines, [open, close]) => {
        const text = formatReference({ path, lines });
        expect(parseReference(text)).toEqual(lines ? { path, lines } : { path });
        const all = findReferences(`Before\n${open}${text}${close} after`).map(formatReference);
        expect(all).toContain(text);
      },
    ),
    { numRuns: runs(500) },
  );
});

test('no text has a reference that leads out of the project', () => {
  const piece = fc.constantFrom(
    'a',
    '/',
    '..',
    '.',
    '.git',
    '`',
    ':',
    '1',
    '-',
    '](',
    ')',
    ' ',
    '#L',
  );
  const text = fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }).map((all) => all.join(''));
  fc.assert(
    fc.property(text, (text) => {
      for (const { path } of findReferences(text)) expect(isProjectPath(path)).toBe(true);
    }),
    { numRuns: runs(2000) },
  );
});

const line = fc.constantFrom('', '  ', '{', '}', 'a', ' a', 'b', 'return;', 'const x = 1;');
const text = fc.array(line, { minLength: 1, maxLength: 30 });

/** All places of the normalised lines, found by comparing them. */
function places(text: readonly string[], wanted: readonly string[]): number[] {
  const kept = text.flatMap((one, i) => (one.trim() === '' ? [] : [[one.trim(), i + 1] as const]));
  return kept.flatMap(([, number], at) =>
    wanted.every((one, i) => kept[at + i]?.[0] === one) ? [number] : [],
  );
}

test('a span is found where a comparison of its lines finds it', () => {
  fc.assert(
    fc.property(text, text, fc.nat(), fc.nat(), (old, now, a, b) => {
      const first = 1 + (a % old.length);
      const last = first + (b % (old.length - first + 1));
      const span = new SpanText(old.join('\n')).fingerprint({ first, last });
      const wanted = old.slice(first - 1, last).flatMap((one) => one.trim() || []);
      if (old.at(-1) === '' && last === old.length) return;
      expect(span?.lines ?? 0).toBe(wanted.length);
      if (!span) return;
      const match = new SpanText(now.join('\n')).locate(span, { first, last });
      const all = places(now, wanted);
      const same = now.slice(first - 1, last).flatMap((one) => one.trim() || []);
      const inPlace = same.join('\n') === wanted.join('\n') && last <= now.length;
      if (match.verdict === 'changed') expect(all).toEqual([]);
      else if (match.verdict === 'fresh') expect(inPlace).toBe(true);
      else {
        expect(match.verdict).toBe(all.length === 1 ? 'moved' : 'ambiguous');
        expect(all).toContain(match.lines.first);
      }
    }),
    { numRuns: runs(3000) },
  );
});

test('a span is found after lines were added before it, and other indentation', () => {
  fc.assert(
    fc.property(text, fc.nat(20), fc.nat(), fc.nat(), (old, added, a, b) => {
      const first = 1 + (a % old.length);
      const last = first + (b % (old.length - first + 1));
      const span = new SpanText(old.join('\n')).fingerprint({ first, last });
      if (!span) return;
      const head = Array.from({ length: added }, (_, i) => `new ${i}`);
      const now = [...head, ...old.map((one) => `\t${one}`)].join('\r\n');
      expect(new SpanText(now).locate(span, { first, last }).verdict).not.toBe('changed');
    }),
    { numRuns: runs(1000) },
  );
});
