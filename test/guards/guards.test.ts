import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guards } from './guards.ts';

const top = join(import.meta.dirname, '../..');

// Whether the tests fail without them is asked by `npm run test:guards`.
test.each(guards)('the guard stands where it is said to: $name', ({ file, code, without }) => {
  const text = readFileSync(join(top, 'src', file), 'utf8');
  expect(text.split(code)).toHaveLength(2);
  expect(code).not.toBe(without);
});
