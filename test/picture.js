// `npm run picture`: draws the pictures of the documentation: a terminal, and pages in a browser, while
// test/view/jobs.test.ts does the jobs of a person in them.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

await import('./terminal.js');

const top = resolve(import.meta.dirname, '..');
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project=full'];
const env = { ...process.env, PICTURES_FOLDER: join(top, 'docs') };
const run = spawnSync(process.execPath, [...vitest, 'test/view/jobs.test.ts'], {
  cwd: top,
  stdio: 'inherit',
  env,
});
process.exitCode = run.status ?? 1;
