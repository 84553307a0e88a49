import { expect, test } from 'vitest';
import { texts } from '../support/rooms.ts';

/** The lengths and the hash of SHA-1, as code would state them. */
const fixed =
  /createHash\('sha1'\)|\[0-9a-f\]\{(?:40|64)\}|\\w\{40\}|repeat\(40\)|slice\((?:0, 40|4[01])\b|[+*] 20\b/;

/** Code that hashes or shows something else. */
const others = new Set([
  'git/objects/object-format.ts',
  'store/records/fan-out.ts',
  'store/history/repository-history.ts',
  'store/claims/claim-file.ts',
  'store/modes/rule-file.ts',
]);

test('only the format of the objects states lengths of object ids, and their hash', () => {
  const found = [...texts].flatMap(([path, text]) => {
    const isChecked = /^(?:git|store\/(?!secrets))/.test(path) && !others.has(path);
    const line = isChecked ? text.split('\n').find((one) => fixed.test(one)) : undefined;
    return line === undefined ? [] : [`${path}: ${line.trim()}`];
  });
  expect(found).toEqual([]);
});
