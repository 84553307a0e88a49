import { expect, test } from 'vitest';
import { CallerCounts } from '../../src/server/http/server/rate-limit.ts';

test('the counts of many callers stay bounded, and a caller that goes on keeps its count', async () => {
  const counts = new CallerCounts(60_000, 10);
  let last = 0;
  for (let i = 0; i < 1_000; i += 1) {
    await counts.increment(`address:${i}`);
    if (i % 5 === 0) last = (await counts.increment('key:0')).totalHits;
    expect(counts.current.size + counts.previous.size).toBeLessThanOrEqual(20);
  }
  expect(last).toBe(200);
  expect((await counts.increment('address:0')).totalHits).toBe(1);
});
