import { expect, test } from 'vitest';
import { texts } from '../support/rooms.ts';

/** The lengths and the hash of SHA-1, as code would state them. */
const fixed =
  /createHash\('sha1'\)|\[0-9a-f\]\{\d*,?(?:40|64)\b|\\w\{40\}|repeat\(40\)|slice\((?:0, 40|4[01])\b|[+*] 20\b|length [!=]== (?:20|40)\b/;

/** Code that hashes or shows something else. */
const others = new Set([
  'git/objects/object-format.ts',
  'core/evidence/reference.ts',
  'toolsets/graph/sqlite.ts',
  'server/view/decision-fields.ts',
  // Reads ids of either format from pages, and may not import git.
  'server/view/answer-data.ts',
  'store/records/fan-out.ts',
  'store/history/repository-history.ts',
  'store/claims/claim-file.ts',
  'store/modes/rule-file.ts',
]);

test('only the format of the objects states lengths of object ids, and their hash', () => {
  const found = [...texts].flatMap(([path, text]) => {
    const isChecked = !path.startsWith('store/secrets/') && !others.has(path);
    const line = isChecked ? text.split('\n').find((one) => fixed.test(one)) : undefined;
    return line === undefined ? [] : [`${path}: ${line.trim()}`];
  });
  expect(found).toEqual([]);
});
