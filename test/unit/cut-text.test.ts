import { expect, it, test } from 'vitest';
import * as z from 'zod';
import { readSection } from '../../src/core/markdown/section-argument.ts';
import { formatPart, parsePart } from '../../src/core/markdown/text-part.ts';
import { cutLongTexts, cutText, isCutText } from '../../src/core/values/cut-text.ts';
import { parseInput } from '../../src/core/values/input.ts';
import fc from '../support/fc.ts';

test('a cut text is the beginning of the text, ends a line, and says what it lacks', () => {
  const line = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 300 }),
      fc.integer({ min: 900, max: 9_000 }),
      (lines, room) => {
        const text = lines.join('\n');
        let kept = -1;
        const cut = cutText(text, room, (at) => {
          kept = at;
          return 'Ask.';
        });
        expect(JSON.stringify(cut).length).toBeLessThanOrEqual(
          Math.max(room, JSON.stringify(text).length > room ? room : 0),
        );
        if (kept < 0) expect(cut).toBe(text);
        else {
          expect(cut.startsWith(text.slice(0, kept))).toBe(true);
          expect(cut.slice(kept)).toMatch(
            /^\n?\[memory-bank: \d+ of \d+ characters are left out here\. Ask\.\]$/,
          );
          expect(isCutText(cut)).toBe(true);
        }
      },
    ),
    { numRuns: 50 },
  );
});

it('cuts the longest texts, wherever they are', () => {
  const value = { a: { b: ['x'.repeat(50_000), 'short'] }, c: 'y'.repeat(5_000) };
  const cut = cutLongTexts(value, 20_000, () => 'Ask.');
  expect(JSON.stringify(cut).length).toBeLessThanOrEqual(20_000);
  expect(cut).toMatchObject({ a: { b: [expect.any(String), 'short'] }, c: value.c });
});

it('refuses a text with the line of a cut answer as an argument', () => {
  const text = cutText('word '.repeat(1_000), 2_000, () => 'Ask.');
  const input = z.object({ content: z.string() });
  expect(() => parseInput(input, { content: `${text}\n\nMore.` })).toThrow(/answer that was cut/);
  expect(parseInput(input, { content: 'whole' })).toEqual({ content: 'whole' });
});

it.each(['characters 5-', 'A > B, characters 10-', 'A'])('reads and writes the part %s', (text) => {
  expect(formatPart(parsePart(text))).toContain(text);
});

it('reads a section from a character on, and prefers a heading of that name', () => {
  const text = '# characters 3-\n\nab\n# B\n\ncd\n';
  expect(readSection(text, 'B, characters 5-')).toBe('cd\n');
  expect(readSection(text, 'characters 3-')).toBe('# characters 3-\n\nab\n');
  expect(readSection(text, 'characters 20-')).toBe(text.slice(20));
  expect(() => readSection(text, 'C, characters 2-')).toThrow('There is no section "C".');
});
