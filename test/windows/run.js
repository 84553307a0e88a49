// `npm run test:windows`: runs the first hour of a user, the tests of single parts, git, the store and setup, and
// those of the contract, on Node.js for Windows. The last line sums up all runs. Where the bench cannot be made, one
// line says that Windows was not tried, and there is no sum. `node test/windows/run.js git store` runs the tests
// of these folders instead.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NotTried, WineFailed, withBench } from './bench.js';

/** The files of the contract that are not run, each with its reason; all others are. */
const leftOut = new Map([
  ['build', 'it makes links, and Wine 8 makes none'],
  ['guide', 'its commands are for a shell of Linux'],
]);

/** The other files of the contract, in two runs. */
function contractRuns() {
  const files = readdirSync(join(import.meta.dirname, '../contract'))
    .filter((file) => file.endsWith('.test.ts') && !leftOut.has(file.replace('.test.ts', '')))
    .map((file) => `contract/${file}`);
  const isHttp = (/** @type {string} */ file) => file.startsWith('contract/http');
  return [files.filter((file) => !isHttp(file)), files.filter(isHttp)].map((run) => run.join(' '));
}

/**
 * The script, and folders or files of `test/` with a space between them. Each run has its own process: a
 * failure of Wine costs one.
 */
const runs =
  process.argv.length > 2
    ? process.argv.slice(2)
    : ['first-hour', 'unit', 'git', 'store', 'cli', ...contractRuns()];

/** How many tests may be skipped only on Windows. */
const maxUnsupported = 40;

const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'short', '--maxWorkers=2'];
const total = { passed: 0, failed: 0, skipped: 0, unsupported: 0 };

/** The last words of a test for which Wine could not start a program. */
const notStarted = /spawn(?:Sync)? \S+ UNKNOWN$/;

/**
 * Runs Node.js. If Wine itself fails, the run is repeated once.
 *
 * @param {import('./bench.js').Bench} bench
 * @param {readonly string[]} args
 * @returns the tests that failed, as the reporter of the run names them, and the counts.
 */
async function attempt(bench, args) {
  const { output, status } = await bench.run(args).catch((error) => {
    if (!(error instanceof WineFailed)) throw error;
    console.log(`${error.message}; this run is repeated.`);
    return bench.run(args);
  });
  const line = /^(\d+) passed, (\d+) failed, (\d+) skipped\s*$/m.exec(output);
  const [passed = 0, failed = 0, skipped = 0] = (line ?? []).slice(1).map(Number);
  return {
    failures: [...output.matchAll(/^FAILED: (.*?)\s*$/gm)].map((match) => match[1] ?? ''),
    unsupported: Number(/^(\d+) tests are not for Windows\s*$/m.exec(output)?.[1] ?? 0),
    passed,
    failed: failed || (status === 0 && line ? 0 : 1),
    skipped,
  };
}

/**
 * Runs Node.js and adds up its tests. If a program could not be started for each test that failed, the files of
 * these tests are tried once more, and a test counts by its second result.
 *
 * @param {import('./bench.js').Bench} bench
 * @param {readonly string[]} args
 */
async function run(bench, args) {
  const { failures, failed, ...counts } = await attempt(bench, args);
  total.passed += counts.passed;
  total.skipped += counts.skipped;
  total.unsupported += counts.unsupported;
  if (failures.length !== failed || !failures.every((failure) => notStarted.test(failure))) {
    total.failed += failed;
  } else if (failed > 0) {
    const files = new Set(failures.map((failure) => failure.split(' > ')[0] ?? ''));
    console.log(`Wine could not start a program; tried once more: ${[...files].join(', ')}`);
    const again = await attempt(bench, [...vitest, ...files]);
    total.failed += again.failed;
    total.passed += failed - Math.min(failed, again.failed);
  }
}

try {
  await withBench(async (bench) => {
    for (const name of runs) {
      console.log(`\nWindows: ${name}`);
      if (name === 'first-hour') await run(bench, ['test/windows/first-hour.js']);
      else {
        const paths = name.split(' ').map((one) => `test/${one}${one.endsWith('.ts') ? '' : '/'}`);
        await run(bench, [...vitest, ...paths]);
      }
    }
  });
  if (total.unsupported > maxUnsupported) {
    console.log(
      `FAILED: more than ${maxUnsupported} tests are not for Windows: ${total.unsupported}`,
    );
    total.failed += 1;
  }
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = total.failed > 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof NotTried)) throw error;
  console.log(`Windows was not tried: ${error.message}.`);
}
