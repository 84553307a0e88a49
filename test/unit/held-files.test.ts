import * as fs from 'node:fs';
import { expect, test } from 'vitest';
import { HeldFiles } from '../../src/git/disk/held-files.ts';

/** Renames that fail for a while, on a system. */
function renaming(platform: NodeJS.Platform, code: string, failures: number) {
  const pauses: number[] = [];
  let attempts = 0;
  const renameSync: typeof fs.renameSync = () => {
    attempts += 1;
    if (attempts <= failures) throw Object.assign(new Error(code), { code });
  };
  const pause = (ms: number) => pauses.push(ms);
  const files = new HeldFiles({ platform, calls: { ...fs, renameSync }, pause });
  const run = () => files.rename('/nonexistent/from', '/nonexistent/to');
  return { run, pauses, attempts: () => attempts };
}

test.each(['EBUSY', 'EPERM', 'EACCES'])('a file that is held (%s) is replaced later', (code) => {
  const { run, pauses } = renaming('win32', code, 4);
  run();
  expect(pauses).toHaveLength(4);
});

test('a file that stays held is given up after about a second', () => {
  const { run, pauses } = renaming('win32', 'EBUSY', Number.POSITIVE_INFINITY);
  expect(run).toThrow('EBUSY');
  const waited = pauses.reduce((sum, ms) => sum + ms, 0);
  expect(waited).toBeGreaterThan(1000);
  expect(waited).toBeLessThan(2000);
});

test('another error is not repeated, and no error on another system', () => {
  for (const [platform, code] of [
    ['win32', 'ENOENT'],
    ['linux', 'EACCES'],
    ['darwin', 'EBUSY'],
  ] as const) {
    const { run, attempts } = renaming(platform, code, 1);
    expect(run).toThrow(code);
    expect(attempts()).toBe(1);
  }
});
