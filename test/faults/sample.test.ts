import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFull, sample } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { bundleDriver } from './bundle.js';
import { crash, type Share } from './crash.ts';
import { crowdOnOneBranch, crowdOnWorkTrees } from './crowd.ts';
import { hindrances } from './hindrance.ts';
import { killedByTracer, readOnly } from './outside.ts';
import { remoteFaults } from './remote.ts';
import { scenarios } from './scenario.ts';
import { stoppedInTheMiddle } from './stopped.ts';
import { Tally } from './tally.ts';
import { Driver } from './worker.ts';

// A sample of the faults of `npm run test:faults`.
const tally = new Tally();
const share: Share = isFull
  ? { kill: 60, torn: 30, once: 200, sticky: 200, performed: 60, power: 90, twice: 1 }
  : { kill: 12, torn: 6, once: 40, sticky: 40, performed: 10, power: 18, twice: 0 };

const folder = newFolder();
let driver: Driver;
beforeAll(async () => {
  driver = new Driver(await bundleDriver(folder));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  console.log(`seed ${seed}\n${tally.table()}`);
});

function expectNone(since: number): void {
  expect(tally.violations.slice(since)).toEqual([]);
}

// Their duration depends on the machine.
const unhurried = { timeout: 600_000 };

describe(
  'a fault at a point of a change leaves it wholly there or wholly absent',
  unhurried,
  () => {
    test.each(sample(scenarios, 1))('$name', async (scenario) => {
      const since = tally.violations.length;
      await crash(tally, scenario, share, new Random(seed));
      expectNone(since);
    });
  },
);

describe('nothing is lost', unhurried, () => {
  const tries: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'next to other servers and native git',
      () => crowdOnOneBranch(tally, driver, { processes: 3, changes: 4, calm: 0 }),
    ],
    [
      'on linked work trees',
      () => crowdOnWorkTrees(tally, driver, { processes: 2, changes: 4, calm: 0 }),
    ],
    ['by a remote that dies, lies or is rewritten', () => remoteFaults(tally)],
    ['by a change that is refused', () => hindrances(tally)],
    ['by what happens in the middle of one', () => stoppedInTheMiddle(tally, driver, 1)],
    ["in another user's repository", () => readOnly(tally, driver)],
    ['when the server is killed from outside', () => killedByTracer(tally, 1, new Random(seed))],
  ];
  test.each(sample(tries, 1))('%s', async (_, attempt) => {
    const since = tally.violations.length;
    await attempt();
    expectNone(since);
  });
});
