import { expect, it, test } from 'vitest';
import { limitAnswer, maxAnswer } from '../../src/core/answers/answer-limit.ts';
import fc from '../support/fc.ts';

const items = (count: number, size: number) =>
  Array.from({ length: count }, (_, i) => `${i}`.padEnd(size, 'x'));

it('leaves an answer that fits as it is', () => {
  const value = { tasks: items(10, 100) };
  expect(limitAnswer(value, { lists: { tasks: 'never' } })).toEqual({ value, note: undefined });
  expect(limitAnswer(value, { lists: { tasks: 'never' } }).value).toBe(value);
});

it('says how many items are left out, and how to ask for them', () => {
  const { value, note } = limitAnswer(
    { tasks: items(400, 500) },
    { lists: { tasks: 'call again with offset {offset}' }, offset: 200 },
  );
  const kept = Array.isArray(value.tasks) ? value.tasks.length : 0;
  expect(kept).toBeGreaterThan(100);
  expect(value.left_out).toEqual({ tasks: 400 - kept });
  expect(note).toBe(
    `${400 - kept} more tasks do not fit into this answer: call again with offset ${200 + kept}.`,
  );
});

it('shortens the longest lists first', () => {
  const { value } = limitAnswer(
    { a: items(20, 100), b: items(2000, 100) },
    { lists: { a: '', b: '' } },
  );
  expect(value.a).toHaveLength(20);
  expect(Object.keys(value.left_out ?? {})).toEqual(['b']);
});

it('keeps one item of each list, and cuts its text', () => {
  const whole = 'x'.repeat(2 * maxAnswer);
  const { value, note } = limitAnswer(
    { entries: [whole, 'y'] },
    { lists: { entries: 'call again' } },
  );
  expect(value.entries).toEqual([expect.stringMatching(/^x{50000,}\n\[memory-bank: .*\]$/)]);
  expect(JSON.stringify(value).length).toBeLessThanOrEqual(maxAnswer);
  expect(note).toContain('1 more entries');
});

it('shortens other lists and objects, and keeps what must be complete', () => {
  const keys = Object.fromEntries(items(2_000, 60).map((key) => [key, key]));
  const whole = { a: { b: items(500, 300) }, keys, id: 'x', all: items(100, 100) };
  const { value, note } = limitAnswer(whole, { others: 'run "list"', complete: ['all'] });
  expect(JSON.stringify(value).length).toBeLessThanOrEqual(maxAnswer);
  expect(value).toMatchObject({ id: 'x', all: whole.all });
  expect(value.left_out).toEqual({ b: expect.any(Number), keys: expect.any(Number) });
  expect(note).toMatch(/^\d+ more b do not fit into this answer: run "list"\. \d+ more keys /);
});

test('every answer with short items fits, keeps its order, and counts what it leaves out', () => {
  const list = fc.array(fc.string({ maxLength: 300 }), { maxLength: 400 });
  fc.assert(
    fc.property(list, list, list, fc.integer({ min: 3_000, max: 90_000 }), (a, b, c, limit) => {
      const whole = { a, b, damaged: c, other: true };
      const { value, note } = limitAnswer(whole, { lists: { a: '', b: '' } }, limit);
      expect(JSON.stringify(value).length).toBeLessThanOrEqual(limit);
      const counts = new Map(Object.entries(value.left_out ?? {}));
      for (const [name, items] of Object.entries({ a, b, damaged: c })) {
        const kept = value[name];
        expect(kept).toEqual(items.slice(0, items.length - Number(counts.get(name) ?? 0)));
      }
      expect(note === undefined).toBe(counts.size === 0);
    }),
    { numRuns: 50 },
  );
});
