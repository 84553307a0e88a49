import type { Operation } from '../support/fault-files.ts';
import type { Random } from '../support/random.ts';
import { fail, failing, kill, killTwice, Recorded } from './points.ts';
import type { Scenario } from './scenario.ts';
import { Stage } from './stage.ts';
import type { Tally } from './tally.ts';

/** One in how many of the possible points is tried, for each kind of fault; 0 for none. */
export interface Share {
  readonly kill: number;
  readonly torn: number;
  readonly once: number;
  readonly sticky: number;
  readonly performed: number;
  readonly power: number;
  /** How often a server is killed that cleans up behind another. */
  readonly twice: number;
}

/** Every point of every scenario but of the largest; of the kinds that are alike, a part. */
export const most: Share = {
  kill: 1,
  torn: 1,
  once: 2,
  sticky: 3,
  performed: 2,
  power: 2,
  twice: 25,
};

/** A scenario with more operations than this repeats itself. */
const large = 300;

/** Tries the faults inside one process on a scenario. */
export async function crash(
  tally: Tally,
  scenario: Scenario,
  share: Share,
  random: Random,
): Promise<void> {
  const stage = await Stage.set(scenario);
  const { operations } = stage;
  const points = (one: number, of?: readonly string[]) => {
    const step = operations.length > large ? one * 3 : one;
    const numbers = operations.map((_, i) => i + 1);
    const start = random.below(Math.max(step, 1));
    return numbers
      .filter((n) => !of || of.includes(operationAt(stage, n)))
      .filter((_, i) => step > 0 && i % step === start);
  };
  const code = (n: number) => {
    const fitting = Object.keys(failing).filter((name) =>
      failing[name]?.some((operation) => operation === operationAt(stage, n)),
    );
    return fitting[random.below(fitting.length)] ?? 'EIO';
  };
  try {
    for (const n of points(share.kill)) tally.add('killed', await kill(stage, n, 'kill'));
    for (const n of points(share.torn, ['write'])) {
      tally.add('killed in a write', await kill(stage, n, 'torn'));
    }
    for (let i = 0; i < share.twice; i++) {
      // In the second half of a change there is something to clean up.
      const n = operations.length - random.below(Math.ceil(operations.length / 2));
      const m = 1 + random.below(1 + random.below(40));
      tally.add('killed while cleaning up', await killTwice(stage, n, m));
    }
    for (const n of points(share.once)) {
      const how = { code: code(n), sticky: false, performed: false };
      tally.add('an operation fails', await fail(stage, n, how));
    }
    for (const n of points(share.sticky)) {
      const how = { code: code(n), sticky: true, performed: false };
      tally.add('all operations fail from there on', await fail(stage, n, how));
    }
    for (const n of points(share.performed, ['rename', 'link', 'unlink', 'mkdir', 'rmdir'])) {
      const how = { code: 'EIO', sticky: false, performed: true };
      tally.add('an operation fails and is done', await fail(stage, n, how));
    }
    if (share.power === 0) return;
    const recorded = await Recorded.record(stage);
    for (const ordering of ['journal', 'tree-log'] as const) {
      const step = recorded.moments > large ? share.power * 3 : share.power;
      for (let moment = random.below(step); moment < recorded.moments; moment += step) {
        tally.add(`power cut, ${ordering}`, await recorded.cut(moment, ordering, random));
      }
    }
  } finally {
    stage.remove();
  }
}

function operationAt(stage: Stage, n: number): Operation | string {
  return stage.operations[n - 1]?.split(' ', 1)[0] ?? '';
}
