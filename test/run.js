// `node test/run.js short|full [file…]`: runs tests with vitest. Its last line is `12 passed, 0 failed, 3 skipped`.
// A process of vitest rarely ends by itself in the middle of a file, with nothing wrong in the file; such
// files are tried once more, if no test has failed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [project = 'short', ...files] = process.argv.slice(2);
// Each run has two projects of vitest.config.ts.
const projects = project === 'full' ? ['full', 'deep'] : ['short', 'entries'];
const folder = mkdtempSync(join(tmpdir(), 'memory-bank-result-'));

/**
 * @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: number,
 *   readonly lost: readonly string[] }} Result
 */

/**
 * Runs files, or all.
 *
 * @param {readonly string[]} files
 * @param {string} name of the file for the result.
 * @returns {{ readonly status: number, readonly result: Result }}
 */
function run(files, name) {
  const path = join(folder, name);
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...projects.map((one) => `--project=${one}`),
  ];
  const env = { ...process.env, MEMORY_BANK_TEST_RESULT: path };
  const { status } = spawnSync(process.execPath, [...vitest, ...files], { env, stdio: 'inherit' });
  const none = { passed: 0, failed: 1, skipped: 0, lost: [] };
  const result = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : none;
  return { status: status ?? 1, result };
}

try {
  const first = run(files, 'first');
  let { passed, failed, skipped, lost } = first.result;
  process.exitCode = first.status;
  if (failed === 0 && lost.length > 0) {
    console.log(`A process of vitest has ended by itself; tried once more: ${lost.join(', ')}`);
    const again = run(lost, 'again');
    passed += again.result.passed;
    skipped += again.result.skipped;
    failed = again.result.failed + again.result.lost.length;
    process.exitCode = again.status;
  } else if (first.status !== 0 && failed === 0) failed = 1;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
