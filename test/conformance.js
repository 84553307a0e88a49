// `npm run test:conformance`: runs the official conformance suite of MCP against the built server, and
// calls a tool with the command line of the MCP Inspector, for both eras of the protocol.
//
// Both need Node.js 22. Under an older one, this script installs the npm package of that version for
// this platform next to them, and says so; where it cannot be installed, the run is skipped.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const main = resolve(import.meta.dirname, '../dist/main.cjs');
const suite = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const inspector = '@modelcontextprotocol/inspector@2.12.0';
const needed = 22;

/**
 * The scenarios of each revision that apply, the others by the reason why they do not, and the checks
 * of scenarios that apply for which the server would need tools made for the suite.
 */
const { apply, doNotApply, untestable } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/conformance.json'), 'utf8'),
);
const others = Object.values(doNotApply).flat();

const scratch = mkdtempSync(join(tmpdir(), 'memory-bank-conformance-'));
const modules = join(scratch, 'node_modules');

/**
 * Installs packages into the scratch folder.
 *
 * @param {string[]} names
 * @returns whether they could be installed.
 */
function install(...names) {
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...names];
  return spawnSync('npm', args, { cwd: scratch, encoding: 'utf8' }).status === 0;
}

/** Returns the path of a Node.js that can run the suite; undefined if there is none. */
function findNode() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= needed) return process.execPath;
  const packed = `node-${process.platform}-${process.arch}`;
  if (!install(`${packed}@${needed}`)) return undefined;
  console.log(
    `Node.js ${process.versions.node} cannot run the suite; it runs on ${packed}@${needed}.`,
  );
  return join(modules, packed, 'bin/node');
}

/**
 * Serves a project with a record; returns the process and its URL.
 *
 * @param {string} root
 */
async function serve(root) {
  mkdirSync(root);
  spawnSync('git', ['init', '--quiet'], { cwd: root });
  const run = (/** @type {string[]} */ ...args) =>
    spawnSync(process.execPath, [main, '--root', root, ...args], { encoding: 'utf8' });
  run('initialize-memory-bank', '--path', root);
  const server = spawn(
    process.execPath,
    [main, '--root', root, 'serve', '--port', '0', '--no-auth'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let text = '';
  for await (const chunk of server.stderr) {
    text += chunk;
    const [, url] = /MCP at (\S+)/.exec(text) ?? [];
    if (url !== undefined) return { server, url };
  }
  throw new Error(`The server did not start: ${text}`);
}

/**
 * Runs all scenarios of a revision, or those of extensions; returns the problems of those that apply.
 *
 * @param {string} node
 * @param {string} url
 * @param {string} revision or `extensions`, whose scenarios no revision has.
 */
function check(node, url, revision) {
  const output = join(scratch, revision);
  const program = join(modules, '@modelcontextprotocol/conformance/dist/index.js');
  const choices =
    revision === 'extensions'
      ? apply[revision].map((/** @type {string} */ name) => ['--scenario', name])
      : [['--suite', 'all', '--spec-version', revision]];
  for (const choice of choices) {
    const args = ['server', '--url', url, ...choice, '-o', output];
    spawnSync(node, [program, ...args], { encoding: 'utf8' });
  }
  const problems = [];
  const left = new Set(apply[revision]);
  for (const folder of readdirSync(output)) {
    const name = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    if (others.includes(name)) continue;
    if (!left.delete(name)) problems.push(`${name} is not listed`);
    const checks = JSON.parse(readFileSync(join(output, folder, 'checks.json'), 'utf8'));
    const counted = checks.filter(
      (/** @type {{ id: string }} */ { id }) => !untestable[name]?.includes(id),
    );
    const of = (/** @type {string} */ wanted) =>
      counted.filter((/** @type {{ status: string }} */ { status }) => status === wanted);
    const failed = [...of('FAILURE'), ...of('WARNING')];
    console.log(`${revision} ${name}: ${of('SUCCESS').length} passed, ${failed.length} failed`);
    for (const { id, errorMessage } of failed) problems.push(`${name}: ${id}: ${errorMessage}`);
  }
  for (const name of left) problems.push(`${name} did not run`);
  return problems.map((problem) => `${revision} ${problem}`);
}

/**
 * Calls a tool with the Inspector, over both transports in both eras; returns the problems.
 *
 * @param {string} node
 * @param {string} url
 * @param {string} root
 */
function inspect(node, url, root) {
  const transports = [
    { type: 'stdio', command: process.execPath, args: [main, '--root', root] },
    { type: 'streamable-http', url },
  ];
  const named = new Map(
    ['legacy', 'auto', 'modern'].flatMap((protocolEra) =>
      transports.map((transport) => [
        `${transport.type} ${protocolEra}`,
        { ...transport, protocolEra },
      ]),
    ),
  );
  const config = join(scratch, 'servers.json');
  writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(named) }));
  const folder = join(modules, '@modelcontextprotocol/inspector');
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const program = join(folder, bin['mcp-inspector']);
  const env = { PATH: process.env.PATH, HOME: scratch, MCP_INSPECTOR_SECRET_STORE: 'memory' };
  return [...named.keys()].flatMap((name) => {
    const call = ['--method', 'tools/call', '--tool-name', 'get_memory_bank_status'];
    const args = [program, '--cli', '--config', config, '--server', name, ...call];
    const { status, stdout, stderr } = spawnSync(node, args, { env, encoding: 'utf8' });
    const passed = status === 0 && stdout.includes('memoryBankStatus');
    console.log(`inspector, ${name}: ${passed ? 'passed' : 'failed'}`);
    return passed ? [] : [`inspector, ${name}: ${stderr}`];
  });
}

try {
  writeFileSync(join(scratch, 'package.json'), '{ "private": true }');
  const node = findNode();
  const missing = node === undefined ? `Node.js ${needed}` : install(suite, inspector) ? '' : suite;
  if (node === undefined || missing !== '') {
    console.log(`skipped: ${missing} cannot be installed`);
  } else {
    const root = join(scratch, 'project');
    const { server, url } = await serve(root);
    const problems = Object.keys(apply).flatMap((revision) => check(node, url, revision));
    problems.push(...inspect(node, url, root));
    server.kill();
    await once(server, 'exit');
    for (const problem of problems) console.log(`FAILED: ${problem}`);
    process.exitCode = problems.length === 0 ? 0 : 1;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
