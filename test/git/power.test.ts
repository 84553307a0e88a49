import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Recorded } from '../faults/points.ts';
import { scenarios } from '../faults/scenario.ts';
import { Stage } from '../faults/stage.ts';
import { deep, isFull, runs, sample } from '../support/depth.ts';
import { Random } from '../support/random.ts';

// The seeds are fixed, so that a missing fsync shows in every run; the fault runs try others.
const names = ['update', 'two changes', 'edit by hand', 'unborn branch'];
describe.each(sample(names, 1))('a power cut in "%s"', (name) => {
  let stage: Stage;
  let recorded: Recorded;
  beforeAll(async () => {
    const scenario = scenarios.find((one) => one.name === name);
    if (!scenario) throw new Error('there is no such scenario');
    stage = await Stage.set(scenario);
    recorded = await Recorded.record(stage);
  });
  afterAll(() => stage.remove());

  describe.each(['journal', 'tree-log'] as const)('on a disk with a %s', (ordering) => {
    test('loses nothing that was acknowledged', async () => {
      for (let seed = 1; seed <= runs(12); seed++) {
        expect(await recorded.cut(recorded.moments - 1, ordering, new Random(seed))).toEqual([]);
      }
    });

    deep('leaves no change half done', async () => {
      for (let moment = 0; moment < recorded.moments; moment += isFull ? 2 : 24) {
        for (const seed of [moment, 1000 + moment]) {
          expect(await recorded.cut(moment, ordering, new Random(seed))).toEqual([]);
        }
      }
    });
  });
});
