// `npm run test:random -- [minutes] [seed]`: runs the random tests with one seed after another until
// the time is over or a test fails. The first seed is the argument, or random.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const top = resolve(import.meta.dirname, '..');
const vitest = join(top, 'node_modules/vitest/vitest.mjs');
const [minutes = '10', first = `${Date.now() % 1_000_000}`] = process.argv.slice(2);
const end = Date.now() + Number(minutes) * 60_000;

for (let seed = Number(first); Date.now() < end; seed++) {
  const { status } = spawnSync(
    process.execPath,
    [
      ...[vitest, 'related', '--run', '--project', 'short', '--reporter=dot'],
      ...['--silent=passed-only', 'test/support/seed.ts'],
    ],
    {
      cwd: top,
      stdio: 'inherit',
      env: { ...process.env, TEST_SEED: `${seed}`, TEST_DEPTH: 'full' },
    },
  );
  console.log(`seed ${seed}: ${status === 0 ? 'passed' : 'FAILED'}`);
  if (status !== 0) {
    process.exitCode = 1;
    break;
  }
}
