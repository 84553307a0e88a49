import { expect, test } from 'vitest';
import { seededNumbers } from '../../src/core/values/seeded-numbers.ts';
import { bytesIn, lettersOf } from '../../src/server/copy/part-letters.ts';

test('letters have the bytes of any length, and end no string and no script', () => {
  const random = seededNumbers(1);
  for (let length = 0; length < 60; length++) {
    for (const kind of [() => 0, () => 255, () => Math.floor(256 * random())]) {
      const bytes = Uint8Array.from({ length }, kind);
      const text = lettersOf(bytes);
      expect(text).not.toMatch(/["\\<\s]|[^ -~]/);
      expect(bytesIn(text)).toEqual(bytes);
    }
  }
  const many = Uint8Array.from({ length: 13_000 }, () => Math.floor(256 * random()));
  expect(lettersOf(many)).toHaveLength(16_000);
});
