// The first hour of a user, on the built program: from `init` to the removal. Ends with the number of steps
// that passed and failed, as the test runs do. Runs on any system; the Windows bench runs it in Wine.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const main = resolve(import.meta.dirname, '../../dist/main.cjs');
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'memory-bank-hour-')));
const project = join(scratch, 'project');
// On the Windows bench, this is another drive than that of the project.
const users = process.platform === 'win32' ? homedir() : tmpdir();
const home = realpathSync(mkdtempSync(join(users, 'memory-bank-home-')));
const bin = join(scratch, 'bin');
for (const folder of [project, bin]) mkdirSync(folder);
const PATH = [bin, process.env.PATH ?? ''].join(delimiter);
/** @type {Record<string, string>} */
const env = { HOME: home, USERPROFILE: home, PATH };
// What the Windows bench loads into Node.js.
if (process.env.NODE_OPTIONS) env.NODE_OPTIONS = process.env.NODE_OPTIONS;
const count = { passed: 0, failed: 0 };

/**
 * @param {string} name
 * @param {() => unknown} work which throws if the step fails.
 */
async function step(name, work) {
  try {
    await work();
    count.passed += 1;
    console.log(`passed: ${name}`);
  } catch (error) {
    count.failed += 1;
    console.log(`FAILED: ${name}\n${error instanceof Error ? error.message : error}`);
  }
}

/** @param {readonly string[]} args */
function git(...args) {
  return execFileSync('git', args, { cwd: project, encoding: 'utf8', env });
}

/**
 * Runs a command of the program.
 *
 * @param {string} expected a part of its output.
 * @param {readonly string[]} args
 * @param {string} [input]
 */
function command(expected, args, input = '') {
  const options = /** @type {const} */ ({ cwd: project, encoding: 'utf8', env, input });
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], options);
  const output = `${stdout}${stderr}`;
  if (status !== 0) throw new Error(`exit status ${status}: ${output}`);
  expect(output, expected);
}

/**
 * @param {string} text
 * @param {string} part
 */
function expect(text, part) {
  if (!text.includes(part)) throw new Error(`no "${part}" in: ${text.slice(0, 2000)}`);
}

/**
 * Checks that a folder has been one project under all its names.
 *
 * @param {string} root
 */
function expectOneIndex(root) {
  const names = readdirSync(join(root, '.git/memory-bank'));
  // A process may be writing the next one.
  const own = names.filter((name) => !name.endsWith('.tmp'));
  for (const kind of ['history-', 'brief-']) {
    const files = own.filter((name) => name.startsWith(kind));
    if (files.length > 1) throw new Error(files.join());
  }
}

/**
 * Uses a folder as a project that is named by `--root`.
 *
 * @param {string} root
 * @param {readonly string[]} spellings other names of the folder.
 */
function useByName(root, spellings) {
  mkdirSync(root, { recursive: true });
  git('init', '-q', '-b', 'main', root);
  for (const [i, name] of [root, ...spellings].entries()) {
    const args = ['--title', `Name ${i}`, '--context', name, '--decision', 'One memory'];
    command(root, ['status', '--root', name]);
    command('', ['log-decision', '--root', name, ...args]);
    command(`Name ${i}`, ['brief', '--root', name]);
  }
  command('One memory', ['show', 'decisionLog.md', '--root', root]);
  command('Name 0', ['search', 'names', '--root', root]);
  command('Name 0', ['log', '--root', root]);
  command('', ['check', '--root', root]);
  command(root, ['doctor', '--root', root]);
  expect(git('-C', root, 'log', '--format=%s'), `Name ${spellings.length}`);
  expect(`<${git('-C', root, 'status', '--porcelain')}>`, '<>');
  expectOneIndex(root);
}

/** @param {(client: Client) => Promise<void>} work */
async function connected(work) {
  const client = new Client({ name: 'first-hour', version: '1' });
  const server = { command: process.execPath, args: [main], cwd: project, env };
  const transport = new StdioClientTransport({ ...server, stderr: 'ignore' });
  await client.connect(transport);
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

/**
 * @param {Client} client
 * @param {string} name
 * @param {Record<string, unknown>} args
 * @param {string} expected a part of the answer.
 */
async function call(client, name, args, expected) {
  expect(JSON.stringify(await client.callTool({ name, arguments: args })), expected);
}

// What `npm install -g` puts on the PATH.
const start = `"${process.execPath}" "${main}"`;
writeFileSync(join(bin, 'memory-bank.cmd'), `@${start} %*\r\n`);
writeFileSync(join(bin, 'memory-bank'), `#!/bin/sh\nexec ${start} "$@"\n`, { mode: 0o755 });
git('init', '-q', '-b', 'main');
git('config', 'user.name', 'Ada Lovelace');
git('config', 'user.email', 'ada@example.org');
writeFileSync(join(project, 'login.ts'), 'export const issuer = "auth";\n');
git('add', '.');
git('commit', '-q', '-m', 'Begin');

await step('init registers a client and makes the memory', () => {
  command('', ['init', '--yes', '--clients', 'claude']);
  if (!existsSync(join(project, '.memory-bank/config.yaml'))) throw new Error('no memory');
});
await step('a decision is logged', () => {
  const consequences = 'It needs no table of sessions; see `login.ts`.';
  const args = ['--title', 'Use JWT for logins', '--context', 'Logins', '--decision', 'JWT'];
  command('', ['log-decision', ...args, '--consequences', consequences]);
});
await step('it is one commit', () => {
  expect(git('log', '-1', '--format=%s%n%b'), 'Use JWT for logins');
  expect(git('show', '--stat', '--format=', 'HEAD'), 'decisionLog.md');
});
await step('edit opens the editor of the user, with its arguments', () => {
  const folder = join(scratch, 'my editor');
  mkdirSync(folder);
  const script = join(folder, 'editor.cjs');
  writeFileSync(
    script,
    `const { readFileSync, writeFileSync } = require('node:fs');
const [word, file] = process.argv.slice(-2);
writeFileSync(file, readFileSync(file, 'utf8').replace('Logins', word));
`,
  );
  const start = join(folder, process.platform === 'win32' ? 'editor.cmd' : 'editor');
  const run = `"${process.execPath}" "${script}"`;
  if (process.platform === 'win32') writeFileSync(start, `@${run} %*\r\n`);
  else writeFileSync(start, `#!/bin/sh\nexec ${run} "$@"\n`, { mode: 0o755 });
  env.EDITOR = `"${start}" --wait Edited`;
  command('Changed decisionLog.md', ['edit', 'decisionLog.md']);
  expect(readFileSync(join(project, '.memory-bank/decisionLog.md'), 'utf8'), 'Edited');
});
await step('search finds it', () => command('Use JWT', ['search', 'login tokens JWT']));
await step('list names its file', () => command('decisionLog.md', ['list']));
await step('show prints it', () => command('no table of sessions', ['show', 'decisionLog.md']));
await step('log has its history', () => command('Use JWT', ['log', 'decisionLog.md']));
await step('blame names its author', () => command('Ada', ['blame', 'decisionLog.md']));
await step('brief tells it', () => command('Use JWT', ['brief']));
await step('check finds nothing', () => command('', ['check']));
await step('status counts the records', () => command(project, ['status']));
await step('doctor finds nothing that keeps the memory from working', () => {
  command('', ['doctor']);
});
await step('a hook answers the start of a session', () => {
  const event = {
    hook_event_name: 'SessionStart',
    session_id: 's',
    cwd: project,
    source: 'startup',
  };
  command('Use JWT', ['hook', 'session-start'], JSON.stringify(event));
});
await step('a file that the user has edited is read', () => {
  const path = join(project, '.memory-bank/productContext.md');
  writeFileSync(path, '# Product Context\r\n\r\n## Overview\r\n\r\nA shop for bicycles.\r\n');
  command('bicycles', ['show', 'productContext.md']);
});
await step('a client writes and reads over stdio', () =>
  connected(async (client) => {
    const { tools } = await client.listTools();
    if (tools.length < 20) throw new Error(`${tools.length} tools`);
    const progress = { action: 'Built the login', description: 'With JWT' };
    await call(client, 'track_progress', progress, 'success');
    const value = { category: 'patterns', key: 'retry', value: 'Retry three times' };
    await call(client, 'memory_write', value, 'success');
    await call(client, 'memory_read', { category: 'patterns', key: 'retry' }, 'three times');
    await call(client, 'memory_search', { query: 'retry' }, 'three times');
  }),
);
await step('the next process reads what the client wrote', () => {
  command('Built the login', ['show', 'progress.md']);
});
await step('a killed server leaves no lock behind', async () => {
  const server = spawn(process.execPath, [main], { cwd: project, env, stdio: 'pipe' });
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'killed', version: '1' },
  };
  const value = { category: 'patterns', key: 'killed', value: 'Kill it' };
  for (const message of [
    { id: 1, method: 'initialize', params },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'memory_write', arguments: value } },
  ]) {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
  let output = '';
  for await (const text of server.stdout.setEncoding('utf8')) {
    output += text;
    if (output.includes('"id":2')) break;
  }
  server.kill('SIGKILL');
  await once(server, 'close');
  command('', ['track-progress', '--action', 'Killed', '--description', 'And went on']);
});
await step('REST answers', async () => {
  const args = [main, 'serve', '--port', '0', '--no-auth'];
  const server = spawn(process.execPath, args, { cwd: project, env, stdio: 'pipe' });
  try {
    let output = '';
    for await (const text of server.stderr.setEncoding('utf8')) {
      output += text;
      if (/http:\/\/\S+:\d+/.test(output)) break;
    }
    const [url] = /http:\/\/[^\s/]+:\d+/.exec(output) ?? [];
    const response = await fetch(`${url}/memory-bank/file/decisionLog.md`);
    expect(await response.text(), 'Use JWT');
  } finally {
    server.kill();
    await once(server, 'close');
  }
});
await step('every change is a commit, and the repository is sound', () => {
  if (Number(git('rev-list', '--count', 'HEAD')) < 6) throw new Error(git('log', '--oneline'));
  expect(`<${git('fsck', '--strict', '--no-dangling', '--no-progress')}>`, '<>');
  const status = git('status', '--porcelain', '.memory-bank', 'login.ts');
  if (/^(?!.. \.memory-bank\/productContext\.md$|\?\?)./m.test(status)) throw new Error(status);
  if (/^100755/m.test(git('ls-files', '--stage', '.memory-bank'))) throw new Error('executable');
});
if (process.platform === 'win32') {
  await step('each spelling of the folder is the same project, with one lock and one index', () => {
    const asked = ['/d', '/c', `for %A in ("${project}") do @echo %~sA`];
    const short = spawnSync('cmd.exe', asked, { encoding: 'utf8', windowsVerbatimArguments: true });
    expect(short.stdout, '~');
    const drive = project.slice(0, 1).toLowerCase() + project.slice(1);
    const spellings = [short.stdout.trim(), drive, project.toUpperCase(), `\\\\?\\${project}`];
    const before = Number(git('rev-list', '--count', 'HEAD'));
    for (const [i, root] of spellings.entries()) {
      command(project, ['status', '--root', root]);
      const args = ['--category', 'patterns', '--key', `spelling-${i}`, '--value', root];
      command('created', ['memory-write', '--root', root, ...args]);
      command(`spelling-${i}`, ['list']);
    }
    const made = Number(git('rev-list', '--count', 'HEAD')) - before;
    if (made !== spellings.length) throw new Error(`${made} commits`);
    expectOneIndex(project);
  });
}
if (process.platform === 'win32') {
  for (const folder of (process.env.TEST_SHARES ?? '').split(delimiter).filter(Boolean)) {
    await step(`a project in the shared folder ${folder} is one memory`, () => {
      const root = `${folder}\\shop`;
      useByName(root, [root.replaceAll('\\', '/'), `\\\\?\\UNC${root.slice(1)}`]);
    });
    await step(`a start in the shared folder ${folder} by cmd makes no memory in Windows`, () => {
      const options = /** @type {const} */ ({ cwd: folder, encoding: 'utf8', env });
      const args = ['/d', '/c', process.execPath, main, 'memory-list'];
      const { status, stderr } = spawnSync('cmd.exe', args, options);
      expect(`${status} ${stderr}`, 'the folder of Windows');
    });
  }
  await step('a project in a folder with a path of more than 260 characters works', () => {
    const parts = Array.from({ length: 4 }, () => 'long-'.repeat(14));
    const root = join(scratch, ...parts);
    useByName(root, [`\\\\?\\${root}`]);
  });
}
await step('init --undo takes the registration back', () => {
  command('', ['init', '--undo', '--yes']);
  const config = readFileSync(join(project, '.git/config'), 'utf8');
  if (config.includes('memory-bank')) throw new Error(config);
});

for (const folder of [scratch, home]) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
console.log(`${count.passed} passed, ${count.failed} failed, 0 skipped`);
process.exitCode = count.failed > 0 ? 1 : 0;
