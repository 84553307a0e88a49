import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guards } from './guards.ts';

const top = join(import.meta.dirname, '../..');

// `npm run test:guards` checks that the tests fail without the guards.
test.each(guards)(
  'the code of the guard is where the list says: $name',
  ({ file, code, without }) => {
    const text = readFileSync(join(top, 'src', file), 'utf8');
    expect(text.split(code)).toHaveLength(2);
    expect(code).not.toBe(without);
  },
);
