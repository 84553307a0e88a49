import { expect, test } from 'vitest';
import { unifiedDiff } from '../../src/core/diff/unified-diff.ts';
import { plainDifference } from '../../src/server/page/plain-difference.ts';

const [one, two] = ['6-0123456789abcdef', '6-fedcba9876543210'];
const line = (mark: string, text = 'See') => `${text} \`src/a.ts:4-9\` <!-- ${mark} -->.\n`;
const again = ['Evidence verified again: src/a.ts:4-9'];
const ofTexts = (before: string, after: string) =>
  plainDifference({ field: 'body', diff: unifiedDiff(before, after) });

test('a change of a fingerprint alone is said in words', () => {
  expect(ofTexts(`a\n${line(one)}b\n`, `a\n${line(two)}b\n`)).toEqual({
    field: { field: 'body' },
    notes: again,
  });
  const lists = { removed: [`src/a.ts:4-9 ${one}`], added: [`src/a.ts:4-9 ${two}`] };
  expect(plainDifference({ field: 'evidence', ...lists })).toEqual({
    field: { field: 'evidence', removed: [], added: [] },
    notes: again,
  });
  expect(plainDifference({ field: 'value', before: line(one), after: line(two) })).toEqual({
    field: { field: 'value' },
    notes: again,
  });
  const yaml = (mark: string) => `name: x\nevidence:\n  - src/a.ts:4-9 ${mark}\n`;
  expect(ofTexts(yaml(one), yaml(two)).notes).toEqual(again);
  const [before, after] = [line(one), line(one).replace(/ <!--.*-->/, '')];
  expect(ofTexts(before, after).notes).toEqual([
    'Evidence without its fingerprint from now on: src/a.ts:4-9',
  ]);
  expect(ofTexts(after, before).notes).toEqual([
    'Evidence with a fingerprint from now on: src/a.ts:4-9',
  ]);
});

test('a change of a text is drawn without fingerprints, next to the words', () => {
  const before = `first\n${line(one)}${'same\n'.repeat(9)}${line(one, 'Old')}`;
  const after = `first\n${line(two)}${'same\n'.repeat(9)}${line(two, 'New')}added\n`;
  const { field, notes } = ofTexts(before, after);
  expect(notes).toEqual(again);
  expect(field.diff).toContain('-Old `src/a.ts:4-9`.\n+New `src/a.ts:4-9`.\n+added\n');
  expect(field.diff).not.toMatch(/[0-9a-f]{16}|See/);
  const evidence = plainDifference({
    field: 'evidence',
    removed: [`src/a.ts:4-9 ${one}`],
    added: [`src/a.ts:4-9 ${two}`, `src/b.ts#run ${one}`],
  });
  expect(evidence.field.added).toEqual(['src/b.ts#run']);
  expect(evidence.notes).toEqual(again);
});

test('a change without fingerprints stays as it is', () => {
  const diff = unifiedDiff('a\nb\n', 'a\nc\n');
  const removed = { field: 'text', diff };
  expect(plainDifference(removed)).toEqual({ field: removed, notes: [] });
  // Nothing but the blank of the comment: no words tell it.
  const blank = unifiedDiff(line(one), line(one).replace('<!-- ', '<!--'));
  expect(plainDifference({ field: 'text', diff: blank }).field.diff).toBe(blank);
  expect(plainDifference({ field: 'value', before: 'a', after: 'b' }).field).toEqual({
    field: 'value',
    before: 'a',
    after: 'b',
  });
  const like = { field: 'tags', removed: [`a ${one}`], added: [`a ${two}`] };
  expect(plainDifference(like).field).toEqual(like);
});
