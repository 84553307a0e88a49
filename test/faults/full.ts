import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Random } from '../support/random.ts';
import { crash, most } from './crash.ts';
import { crowdBetweenBranches, crowdOnOneBranch, crowdOnWorkTrees } from './crowd.ts';
import { hindrances } from './hindrance.ts';
import { failedByTracer, killedByTracer, killedForReal, readOnly } from './outside.ts';
import { remoteFaults } from './remote.ts';
import { scenarios } from './scenario.ts';
import { stoppedInTheMiddle } from './stopped.ts';
import { type Row, Tally } from './tally.ts';
import { Driver } from './worker.ts';

/** A part of the suite that runs in its own process. */
type Part = (tally: Tally, driver: Driver, random: Random) => Promise<void>;

/** All parts, of about equal size, the longest first. */
const parts: readonly Part[] = [
  async (tally, driver) => {
    await crowdBetweenBranches(tally, driver, { processes: 3, changes: 10, calm: 100 });
    await crowdOnOneBranch(tally, driver, { processes: 4, changes: 25, calm: 0 });
    await crowdOnWorkTrees(tally, driver, { processes: 4, changes: 25, calm: 0 });
  },
  (tally, driver) => stoppedInTheMiddle(tally, driver, 15),
  (tally, _, random) => killedByTracer(tally, 4, random),
  (tally, _, random) => failedByTracer(tally, 3, random),
  (tally, driver, random) => killedForReal(tally, driver, 3, random),
  (tally) => remoteFaults(tally),
  async (tally, driver) => {
    await hindrances(tally);
    await readOnly(tally, driver);
  },
  ...scenarios.map(
    (scenario): Part =>
      (tally, _, random) =>
        crash(tally, scenario, most, random),
  ),
];

const [driverPath = '', seedText, ...chosen] = process.argv.slice(2);
const seed = Number(seedText);

if (process.send) {
  const tally = new Tally();
  const part = Number(chosen[0]);
  await parts[part]?.(tally, new Driver(driverPath), new Random(seed + part));
  process.send(tally.rows);
  process.disconnect();
} else {
  const tally = new Tally();
  const begun = Date.now();
  const seconds = () => Math.round((Date.now() - begun) / 1000);
  let over = 0;
  const waiting = chosen.length > 0 ? chosen.map(Number) : [...parts.keys()];
  const count = waiting.length;
  const lane = async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const rows = await runPart(part);
      tally.take(rows);
      over += 1;
      const tried = rows.reduce((sum, row) => sum + row.tried, 0);
      const bad = rows.reduce((sum, row) => sum + row.violations.length, 0);
      console.error(
        `part ${part}: ${tried} faults, ${bad} violations; ${over} of ${count} parts after ${seconds()} s`,
      );
      // Now, because the whole run may be stopped.
      for (const { kind, violations } of rows) {
        for (const violation of violations) console.log(`${kind}: ${violation}\n`);
      }
    }
  };
  console.log(`seed ${seed}`);
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, lane));
  console.log(tally.table());
  console.log(`seed ${seed}, ${seconds()} s`);
  if (tally.violations.length > 0) process.exitCode = 1;
}

/** Runs a part in its own process; a part that fails counts as a violation. */
function runPart(part: number): Promise<readonly Row[]> {
  return new Promise((resolve) => {
    const child = fork(process.argv[1] ?? '', [driverPath, `${seed}`, `${part}`]);
    let rows: readonly Row[] = [];
    child.on('message', (message: readonly Row[]) => {
      rows = message;
    });
    child.on('close', (status, signal) => {
      const broken = `part ${part} ended with ${signal ?? status}`;
      const row = { kind: 'the suite itself', tried: 1, violations: [broken], note: '' };
      resolve(status === 0 ? rows : [...rows, row]);
    });
  });
}
