// `npm run test:matrix`: runs the short tests of everything that works on a repository in other kinds of
// repositories than git's default. The last line sums up all runs.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The kinds, each with the variables by which git makes such repositories. */
const kinds = [{ name: 'SHA-256', env: { GIT_DEFAULT_HASH: 'sha256' } }];

const folders = ['app', 'cli', 'contract', 'git', 'property', 'store', 'toolsets', 'view'];

/**
 * Runs the tests in one kind of repository.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ readonly output: string, readonly status: number | null }>}
 */
function run(env) {
  const paths = folders.map((folder) => `test/${folder}/`);
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'short', ...paths];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    process.stdout.write(text);
  });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (status) => done({ output, status }));
  });
}

const total = { passed: 0, failed: 0, skipped: 0 };
for (const { name, env } of kinds) {
  console.log(`\nRepositories of ${name}`);
  const { output, status } = await run(env);
  const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped\s*$/m.exec(output)?.slice(1);
  const [passed = 0, failed = 0, skipped = 0] = (counts ?? []).map(Number);
  total.passed += passed;
  total.failed += failed || (status === 0 && counts ? 0 : 1);
  total.skipped += skipped;
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
