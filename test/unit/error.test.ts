import { expect, it } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';

it.each([
  ['Not there.', 'Look again.', 'Not there. Look again.'],
  ['a.md: expected a line "---"', 'Mend it.', 'a.md: expected a line "---". Mend it.'],
  ['a.md: expected a line "---"', undefined, 'a.md: expected a line "---"'],
])('the text of %j and %j is %j', (message, hint, text) => {
  expect(new MemoryError('damaged', message, hint === undefined ? {} : { hint }).text).toBe(text);
});
