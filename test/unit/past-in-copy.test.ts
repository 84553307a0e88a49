import { expect, test } from 'vitest';
import { type CopiedState, packStates } from '../../src/app/exchange/copied-states.ts';
import { PastStates } from '../../src/server/copy/past-in-copy.ts';

const text = (list: string) => `---\nkind: note\n---\n# A note\n\n${list}`;
const state = (body: string): CopiedState => ({
  type: 'note',
  toolset: 'notes',
  title: 'A note',
  text: text(body),
  value: { kind: 'note', text: '' },
  body: `# A note\n\n${body}`,
  bodyField: 'text',
});
const entry = (id: string) => ({
  commit: { oid: id.repeat(40), at: '2026-01-31T12:00:00Z', author: 'Ada', subject: 'Change' },
  changes: [{ change: 'changed' as const, path: 'a.md' }],
  more: 0,
});
const log = { entries: ['a', 'b', 'c', 'd'].map(entry), total: 4, shallow: false };
const states = packStates(undefined, [state('- two\n'), null, state('- one\n'), state('- 1\n')]);

test('a copy reads and compares the past states of a record', () => {
  const past = new PastStates('a.md', { log }, states);
  expect(past.log).toEqual(log);
  expect(past.read('cccc')).toMatchObject({ text: text('- one\n'), fields: { kind: 'note' } });
  expect(past.read('cccc').html).toContain('<li>one</li>');
  expect(past.compare('c', 'a')).toMatchObject([
    { change: 'changed', fields: [{ field: 'text', diff: expect.stringContaining('-- one\n') }] },
  ]);
  expect(past.compare('d', 'd')).toEqual([]);
  expect(past.compare(null, 'b')).toMatchObject([{ change: 'removed' }]);
  expect(past.compare(null, 'a')).toMatchObject([{ change: 'added' }]);
  expect(past.compare(null, 'd')).toMatchObject([{ change: 'added' }]);
  expect(() => past.read('b')).toThrow('There is no record "a.md" in this state.');
  expect(() => past.read('main')).toThrow('after each of its commits');
});

test('a copy says how many states of a record it has where older ones were left out', () => {
  const past = new PastStates('a.md', { log }, states.slice(0, 3));
  expect(past.log).toEqual({ ...log, searched: 3 });
  expect(past.read('c').text).toBe(text('- one\n'));
  const refusal = 'This copy has the texts of the newest 3 states of this record alone.';
  expect(() => past.read('d')).toThrow(refusal);
  expect(() => past.compare('d', 'a')).toThrow(refusal);
});
