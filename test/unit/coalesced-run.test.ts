import { expect, test } from 'vitest';
import { CoalescedRun } from '../../src/core/timing/coalesced-run.ts';

test('callers of one turn share a run, which begins after the last of them has asked', async () => {
  let state = 'before';
  const seen: string[] = [];
  const work = new CoalescedRun(async () => {
    seen.push(state);
    return state;
  });
  const first = work.run();
  state = 'after';
  expect(await Promise.all([first, work.run()])).toEqual(['after', 'after']);
  expect(seen).toEqual(['after']);
});

test('a caller that asks during a run gets the next one', async () => {
  let state = 'old';
  let runs = 0;
  const begun: (() => void)[] = [];
  const work = new CoalescedRun(async () => {
    runs += 1;
    const found = state;
    await new Promise<void>((resolve) => begun.push(resolve));
    return found;
  });
  const first = work.run();
  await new Promise(setImmediate);
  state = 'new';
  const second = work.run();
  await new Promise(setImmediate);
  for (const end of begun) end();
  expect([await first, await second, runs]).toEqual(['old', 'new', 2]);
});

test('an error reaches the callers of its run only', async () => {
  let broken = true;
  const work = new CoalescedRun(async () => {
    if (broken) throw new Error('broken');
    return 'well';
  });
  await Promise.all([1, 2].map(() => expect(work.run()).rejects.toThrow('broken')));
  broken = false;
  expect(await work.run()).toBe('well');
});
