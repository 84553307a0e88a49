// `npm run test:guards -- [parts of names]`: removes each guard from a copy and checks that its test fails.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundle } from '../../build.js';

const top = resolve(import.meta.dirname, '../..');
const copied = [
  ...['src', 'test', 'rules', 'schemas', 'docs', 'dist', 'plugins'],
  ...[
    'README.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'build.js',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ],
  'vitest.config.ts',
];
/** Time limit of a test without its guard, in milliseconds. */
const limit = 300_000;

const home = mkdtempSync(join(tmpdir(), 'memory-bank-guards-'));
try {
  await bundle('test/guards/guards.ts', join(home, 'list'));
  const { guards } = await import(join(home, 'list', 'guards.js'));
  const parts = process.argv.slice(2);
  const asked = /** @type {Guard[]} */ (guards).filter(
    ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
  );
  if (asked.length > 0) process.exitCode = await tryAll(asked);
  else {
    console.error(`No guard has ${parts.join(' or ')} in its name.`);
    process.exitCode = 2;
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** @typedef {import('./guards.ts').Guard} Guard */

/** @param {readonly Guard[]} guards */
async function tryAll(guards) {
  const lanes = Array.from({ length: Math.min(availableParallelism(), 2, guards.length) }, lane);
  const [first = ''] = lanes;
  const files = [...new Set(guards.map(({ test }) => test))];
  const titles = [...new Set(guards.map(({ title }) => literal(title)))].join('|');
  const whole = await failedTests(first, files, titles, 10 * limit);
  if (whole === undefined || whole.ran === 0 || whole.failed.length > 0) {
    const what = whole?.failed.map((name) => `\n- ${name}`).join('') || ' no test ends';
    console.log(`With all guards in place, repair this first:${what}`);
    return 2;
  }
  const waiting = [...guards];
  /** @type {Map<string, string>} */
  const rows = new Map();
  await Promise.all(
    lanes.map(async (folder) => {
      for (let guard = waiting.shift(); guard; guard = waiting.shift()) {
        const failed = await failsWithout(folder, guard);
        rows.set(guard.name, failed);
        console.error(`${rows.size} of ${guards.length}: ${guard.name}: ${failed}`);
      }
    }),
  );
  console.log('| guard | test | fails without it |\n| --- | --- | --- |');
  for (const { name, test, title } of guards) {
    console.log(`| ${name} | \`${test}${title && `: ${title}`}\` | ${rows.get(name)} |`);
  }
  const unseen = guards.filter(({ name }) => !rows.get(name)?.startsWith('yes')).length;
  console.log(`\n${guards.length} guards removed, ${unseen} not noticed by a test`);
  return unseen === 0 ? 0 : 1;
}

/** A copy of the project from which guards can be removed. */
function lane() {
  const folder = mkdtempSync(join(home, 'lane-'));
  for (const name of copied) cpSync(join(top, name), join(folder, name), { recursive: true });
  symlinkSync(join(top, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/**
 * @param {string} folder
 * @param {Guard} guard
 */
async function failsWithout(folder, { file, code, without, test, title }) {
  const path = join(folder, 'src', file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(code, () => without),
  );
  try {
    const results = await failedTests(folder, [test], literal(title), limit);
    if (results === undefined) return 'yes: it hangs';
    if (results.ran === 0) return 'no: no test ran';
    return results.failed.length > 0 ? 'yes' : 'no';
  } finally {
    writeFileSync(path, text);
  }
}

/**
 * Runs tests. Undefined if they do not end.
 *
 * @param {string} folder
 * @param {readonly string[]} files
 * @param {string} titles
 * @param {number} maxWaitMs
 * @returns {Promise<{ ran: number, failed: string[] } | undefined>}
 */
function failedTests(folder, files, titles, maxWaitMs) {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const args = ['run', ...files.map((file) => `test/${file}`), '-t', titles];
  const child = spawn(
    process.execPath,
    [
      join(folder, 'node_modules/vitest/vitest.mjs'),
      ...args,
      ...[
        '--project',
        'short',
        '--maxWorkers=1',
        '--reporter=json',
        `--outputFile=${report}`,
        '--testTimeout=60000',
      ],
    ],
    {
      cwd: folder,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, TEST_DEPTH: 'full' },
    },
  );
  return new Promise((done) => {
    const timer = setTimeout(() => {
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    }, maxWaitMs);
    child.on('close', (_, signal) => {
      clearTimeout(timer);
      if (signal) return done(undefined);
      const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
      /** @type {{ assertionResults: { status: string, fullName: string }[] }[]} */
      const results = testResults;
      const all = results.flatMap(({ assertionResults }) => assertionResults);
      const run = all.filter(({ status }) => status === 'passed' || status === 'failed');
      const failed = run.filter(({ status }) => status === 'failed');
      done({ ran: run.length, failed: failed.map(({ fullName }) => fullName) });
    });
  });
}

/** @param {string} text */
function literal(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
