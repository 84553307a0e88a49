import { expect, test } from 'vitest';
import { MicrotaskMemo } from '../../src/core/timing/microtask-memo.ts';

test('callers that continue after one event share a value, and a later step computes it again', async () => {
  let computed = 0;
  const value = new MicrotaskMemo<number>();
  const step = () =>
    value.get(() => {
      computed += 1;
      return computed;
    });
  let begin = () => {};
  const event = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const callers = Array.from({ length: 5 }, async () => {
    await event;
    const first = step();
    await undefined;
    return [first, step()];
  });
  begin();
  expect(await Promise.all(callers)).toEqual(Array.from({ length: 5 }, () => [1, 2]));
});

test('no value outlives the turn in which it was computed', async () => {
  const value = new MicrotaskMemo<string>();
  expect(value.get(() => 'old')).toBe('old');
  await new Promise(setImmediate);
  expect(value.get(() => 'new')).toBe('new');
});
