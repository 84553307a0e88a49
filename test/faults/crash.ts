import { reading, retransmitted } from '../support/fault-files.ts';
import type { Random } from '../support/random.ts';
import { codesOf, fail, kill, killTwice, Recorded } from './points.ts';
import type { Scenario } from './scenario.ts';
import { Stage } from './stage.ts';
import type { Tally } from './tally.ts';

/** Sampling for each kind of fault: one in how many of the possible points is tried. */
export interface Share {
  readonly kill: number;
  readonly torn: number;
  /** For operations, with each applicable code. */
  readonly once: number;
  readonly sticky: number;
  readonly performed: number;
  readonly power: number;
  /** Number of kills of a server that cleans up after another. */
  readonly twice: number;
}

/** Every point; for power cuts every second one, and a few double deaths. */
export const most: Share = {
  kill: 1,
  torn: 1,
  once: 1,
  sticky: 1,
  performed: 1,
  power: 2,
  twice: 25,
};

/** Tries the faults within one process on a scenario. */
export async function crash(
  tally: Tally,
  scenario: Scenario,
  share: Share,
  random: Random,
): Promise<void> {
  const stage = await Stage.set(scenario);
  const points = stage.operations.map((operation, i) => ({ n: i + 1, operation }));
  // An error may fail one of several changes, which is neither the state before nor after the act.
  const failing = scenario.changes ? [] : points;
  const failures = failing.flatMap(({ n, operation }) =>
    codesOf(operation).map((code) => ({ n, code })),
  );
  const some = <T>(all: readonly T[], one: number): T[] => {
    const start = random.below(one);
    return all.filter((_, i) => i % one === start);
  };
  try {
    const traces = points.filter(({ operation }) => !reading.has(operation));
    for (const { n } of some(traces, share.kill)) {
      tally.add('killed', await kill(stage, n, 'kill'));
    }
    const writes = points.filter(({ operation }) => operation === 'write');
    for (const { n } of some(writes, share.torn)) {
      tally.add('killed in a write', await kill(stage, n, 'torn'));
    }
    for (let i = 0; i < share.twice; i++) {
      // Only the second half of a change leaves something to clean up.
      const n = points.length - random.below(Math.ceil(points.length / 2));
      const m = 1 + random.below(1 + random.below(120));
      tally.add('killed while cleaning up', await killTwice(stage, n, m));
    }
    for (const { n, code } of some(failures, share.once)) {
      const how = { code, sticky: false, performed: false };
      tally.add(`an operation fails with ${code}`, await fail(stage, n, how));
    }
    for (const { n, code } of some(failures, share.sticky)) {
      const how = { code, sticky: true, performed: false };
      tally.add(`all operations fail with ${code} from that point on`, await fail(stage, n, how));
    }
    const remote = failing.filter(({ operation }) => retransmitted.has(operation));
    for (const { n } of some(remote, share.performed)) {
      const how = { code: 'EIO', sticky: false, performed: true };
      tally.add('an operation fails and is done', await fail(stage, n, how));
    }
    const recorded = await Recorded.record(stage);
    const moments = Array.from({ length: recorded.moments }, (_, moment) => moment);
    for (const ordering of ['journal', 'tree-log'] as const) {
      for (const moment of some(moments, share.power)) {
        tally.add(`power cut, ${ordering}`, await recorded.cut(moment, ordering, random));
      }
    }
  } finally {
    stage.remove();
  }
}
