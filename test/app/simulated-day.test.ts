import { expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { seed } from '../support/seed.ts';
import { simulateDay } from '../support/simulated-day.ts';

// `npm run bench -- scale` simulates a day with more changes.
deep('a day of 100 agents on 10 clones with outages of the remote loses nothing', async () => {
  const found = await simulateDay({ seed, agents: 100, clones: 10, changes: 5, outages: 16 });
  console.log(found);
  expect(found).toMatchObject({ acknowledged: 500, lost: [], trees: 1, fsck: '' });
  expect(found.failed).toBeGreaterThan(0);
  expect(found.pushes).toBeLessThan(found.acknowledged);
});
