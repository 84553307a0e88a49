import { expect, test } from 'vitest';
import { matchLines } from '../../src/cli/screen/match-lines.ts';
import type { Painter } from '../../src/core/answers/painter.ts';

const painter: Painter = {
  paint: (_, text) => `<${text}>`,
  message: (text) => text,
  plain: (text) => text,
  fit: (text) => text,
  width: 80,
};
const filler = 'words before it '.repeat(12);

test('a match is never cut away, however far from the beginning it is', () => {
  const lines = matchLines(painter, `${filler}we take Postgres for ${filler}`, ['Postgres'], 76);
  expect(lines.join(' ')).toContain('we take <Postgres> for');
  for (const line of lines) expect(line.replace(/[<>]/g, '').length).toBeLessThanOrEqual(76);
  expect(lines.join(' ').replace(/[<>]/g, '')).toBe(
    `${filler}we take Postgres for ${filler}`.trim(),
  );
});

test('a match of several words is not divided', () => {
  const lines = matchLines(painter, `${'x'.repeat(30)} take the queue now`, ['take the queue'], 40);
  expect(lines).toEqual(['x'.repeat(30), '<take the queue> now']);
});

test('a text without spaces is wrapped, and a number in another number is not a match', () => {
  const face = '😀'.repeat(30);
  expect(matchLines(painter, face, [], 21).join('')).toBe(face);
  expect(matchLines(painter, 'take 15 or 5', ['5'], 40)).toEqual(['take 15 or <5>']);
});

test('a word is found as it is written, whatever it means to an expression', () => {
  const words = ['a-b', 'c_d', '(e)', '[f]', '{g}', '$h', '^i', 'j|k', 'l/m', 'n*', '\\o', 'C++'];
  for (const word of words) {
    expect(matchLines(painter, `x ${word} y`, [word], 40)).toEqual([`x <${word}> y`]);
  }
});
