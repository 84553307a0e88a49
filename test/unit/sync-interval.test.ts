import { expect, test } from 'vitest';
import { syncInterval, usualInterval } from '../../src/app/session/sync-interval.ts';

test.each([
  [undefined, usualInterval, 0],
  ['', usualInterval, 0],
  ['$' + '{INTERVAL}', usualInterval, 0],
  ['0', 0, 0],
  [' 300 ', 300_000, 0],
  ['86400', 86_400_000, 0],
  ['86401', usualInterval, 1],
  ['-1', usualInterval, 1],
  ['1m', usualInterval, 1],
])('an interval of %j is %i milliseconds', (value, milliseconds, warnings) => {
  const warned: string[] = [];
  const env = { MEMORY_BANK_SYNC_INTERVAL: value };
  expect(syncInterval(env, (text) => warned.push(text))).toBe(milliseconds);
  expect(warned).toHaveLength(warnings);
  for (const text of warned) expect(text).toContain(`from 0 to 86400: ${value}`);
});
