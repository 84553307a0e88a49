import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { configFile } from '../../src/cli/setup/client/client.ts';
import { clients } from '../../src/cli/setup/client/client-table.ts';
import { deep, describeDeep } from '../support/depth.ts';
import { HttpProgram } from '../support/http-program.ts';
import { main, newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';

/** A server of another name, as a script for `node -e`. */
const otherServer = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'other', version: '2' } };
  if (id) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
})`;

const other = Repo.create().root;

/** Runs `doctor` in a new project with an entry, and returns its line about that client. */
function look(
  where: 'project' | 'personal',
  entry: object,
  { repo = Repo.create(), args = [] as string[], path = process.env.PATH } = {},
) {
  const home = newFolder();
  const file = where === 'project' ? repo.path('.mcp.json') : join(home, '.codex/config.toml');
  mkdirSync(dirname(file), { recursive: true });
  const text =
    where === 'project'
      ? JSON.stringify({ mcpServers: { 'memory-bank': entry } })
      : stringify({ mcp_servers: { 'memory-bank': entry } });
  writeFileSync(file, text);
  const { stdout, stderr } = runProgram(repo.root, ['doctor', ...args], {
    env: {
      PATH: path,
      HOME: home,
      MEMORY_BANK_DURABILITY: 'relaxed',
      KEY: 'key-of-the-test-server',
    },
  });
  expect(stderr).toBe('');
  return stdout.split('\n').find((line) => line.includes(file)) ?? stdout;
}

deep.each([
  ['this program', { command: 'node', args: [main] }, /^ok .* starts the server$/],
  ['its root by name', { command: 'node', args: [main, '--root', '.'] }, /^ok /],
  ['another root', { command: 'node', args: [main, '--root', other] }, `it serves ${other}`],
  ['an option', { command: 'node', args: [main, '--rooot=x'] }, /ends with status 2 .*rooot/],
  ['false', { command: 'false' }, /^WRONG .*it ends with status 1 instead of serving/],
  ['no program', { command: 'no-such-program' }, '"no-such-program", which is not on the PATH'],
  ['no MCP', { command: 'echo', args: ['hello'] }, 'does not speak MCP: it prints "hello"'],
  [
    'another server',
    { command: 'node', args: ['-e', otherServer] },
    'is another server, "other 2"',
  ],
  ['a dead URL', { url: 'http://127.0.0.1:9/mcp' }, /9\/mcp cannot be reached/],
  ['a variable', { command: 'x', args: [`\${input:key}`] }, /^note .*only the client knows/],
])('doctor starts what a personal entry says: %s', (_, entry, expected) => {
  const line = look('personal', entry);
  if (typeof expected === 'string') expect(line).toMatch(/^WRONG /);
  expect(line).toMatch(expected);
});

test('doctor reports the one entry of Cline that serves another project as a note', () => {
  const home = newFolder();
  const around = { root: home, home, env: {}, platform: process.platform };
  const file = clients.cline && configFile(clients.cline, around);
  mkdirSync(dirname(file ?? ''), { recursive: true });
  const entry = { command: 'node', args: [main, '--root', other] };
  writeFileSync(file ?? '', JSON.stringify({ mcpServers: { 'memory-bank': entry } }));
  const { status, stdout } = runProgram(Repo.create().root, ['doctor'], {
    env: { PATH: process.env.PATH, HOME: home },
  });
  expect(stdout).toMatch(/^note {2}Cline .* serves .*: Cline has one entry for all projects; /m);
  expect(stdout).toContain(`serves ${other}`);
  expect(status).toBe(0);
});

deep.each([
  ['this program', { command: 'node', args: [main] }, /^ok .* starts the server$/],
  ['another root', { command: 'node', args: [main, '--root', other] }, /^WRONG .*it serves /],
  ['a program', { command: 'touch', args: ['marker'] }, /^note .*not started: it starts "touch/],
  ['a script', { command: 'node', args: ['./marker.cjs'] }, /^note .*not started: it starts "node/],
  [
    'a command',
    { command: 'node', args: [main, 'undo', 'HEAD'] },
    /^note .*it gives "undo" as an argument/,
  ],
  [
    'options of Node.js',
    { command: 'node', args: [main], env: { NODE_OPTIONS: '--require ./marker.cjs' } },
    /^note .*not started: it sets NODE_OPTIONS/,
  ],
  ['other hosts', { url: 'http://example.org/mcp' }, /^note .*it connects to http:\/\/example/],
  [
    'a path',
    { command: '../x/memory-bank' },
    /^WRONG .*starts \.\.\/x\/memory-bank, which does not/,
  ],
  ['another path', { command: '/bin/echo', args: ['--x'] }, /^note .*it starts "\/bin\/echo --x"/],
  ['short options', { command: 'node', args: [main, '-eprocess'] }, /^note .*gives "-eprocess"/],
  [
    'other packages',
    { command: 'npx', args: ['-y', 'memory-bank@npm:evil'] },
    /^note .*not started/,
  ],
])('doctor starts only this program for an entry of the project: %s', (_, entry, expected) => {
  const repo = Repo.create();
  repo.write('marker.cjs', "require('node:fs').writeFileSync('marker', '');\n");
  expect(look('project', entry, { repo })).toMatch(expected);
  expect(existsSync(repo.path('marker'))).toBe(false);
});

deep('doctor starts npx outside of the project, whose settings it would read', () => {
  const bin = newFolder();
  const seen = join(bin, 'seen');
  const script = `#!/bin/sh\necho "$PWD $1 $2" > ${seen}\nshift 2\nexec node ${main} "$@"\n`;
  writeFileSync(join(bin, 'npx'), script, { mode: 0o755 });
  const path = `${bin}:${process.env.PATH}`;
  const repo = Repo.create();
  const entry = { command: 'npx', args: ['-y', 'memory-bank@1.0.0', '--toolsets', 'graph'] };
  expect(look('project', entry, { repo, path })).toMatch(/^ok .* starts the server$/);
  expect(readFileSync(seen, 'utf8')).toMatch(/ -y memory-bank@1\.0\.0\n$/);
  expect(readFileSync(seen, 'utf8')).not.toContain(repo.root);
});

deep(
  'doctor names the tools that a client is not offered, and a list that it does not take',
  () => {
    const env = { MEMORY_BANK_PROFILE: 'agent' };
    const entry = { command: 'node', args: [main], env };
    const repo = Repo.create();
    repo.write('.agents/mcp_config.json', JSON.stringify({ mcpServers: { 'memory-bank': entry } }));
    const bare = { command: 'node', args: [main] };
    repo.write('.cursor/mcp.json', JSON.stringify({ mcpServers: { 'memory-bank': bare } }));
    repo.write('.mcp.json', JSON.stringify({ mcpServers: { 'memory-bank': entry } }));
    const { stdout } = runProgram(repo.root, ['doctor'], {
      env: { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_DURABILITY: 'relaxed' },
    });
    const lines = stdout.split('\n');
    const about = (title: string) => lines.find((line) => line.slice(6).startsWith(title));
    expect(about('Claude Code')).toMatch(/^ok .* starts the server$/);
    expect(about('Tools')).toMatch(
      /^ok .* Claude Code, Copilot CLI, Antigravity: \d+ of \d+ tools are listed\. Not listed: graph, .*; search_as_of, .* of history/,
    );
    expect(about('Cursor')).toMatch(/^note .* lists \d+ tools, and Cursor takes at most 80 of all/);
  },
);

deep('doctor names both places of an entry in the forms of two versions', () => {
  const entry = { type: 'local', command: ['memory-bank'] };
  const repo = Repo.create();
  const mcp = { 'memory-bank': entry, servers: { 'memory-bank': entry } };
  repo.write('opencode.json', JSON.stringify({ mcp }));
  const { stdout } = runProgram(repo.root, ['doctor'], {
    env: { PATH: process.env.PATH, HOME: newFolder() },
  });
  expect(stdout).toMatch(
    /^note +opencode .* has the server in "mcp\.servers" and "mcp", .*: remove one$/m,
  );
});

deep('doctor advises to renew an entry of the project that older programs refuse', () => {
  const entry = { command: 'node', args: [main, '--profile', 'agent'] };
  expect(look('project', entry, { repo: Repo.create() })).toMatch(
    /^note .*has the option --profile, which an older program refuses: run memory-bank init/,
  );
});

test('doctor starts no other program of the same name for an entry of the project', () => {
  const elsewhere = newFolder();
  writeFileSync(join(elsewhere, 'memory-bank'), '#!/bin/sh\ntouch marker\n', { mode: 0o755 });
  const repo = Repo.create();
  const line = look('project', { command: join(elsewhere, 'memory-bank') }, { repo });
  expect(line).toMatch(/^note .*not started: it starts ".*memory-bank", which/);
  expect(existsSync(repo.path('marker'))).toBe(false);
});

deep('doctor starts no file of the project, also by the name of this program, unless asked', () => {
  const repo = Repo.create();
  const bin = repo.path('node_modules/.bin');
  repo.write('node_modules/.bin/memory-bank', '#!/bin/sh\ntouch marker\n');
  chmodSync(join(bin, 'memory-bank'), 0o755);
  const path = `${bin}:${process.env.PATH}`;
  const entry = { command: 'memory-bank' };
  expect(look('project', entry, { repo, path })).toMatch(/^note .*a file of the project/);
  expect(existsSync(repo.path('marker'))).toBe(false);
  // A link in the project may lead to any program of the machine.
  rmSync(join(bin, 'memory-bank'));
  symlinkSync('/bin/echo', join(bin, 'memory-bank'));
  expect(look('project', entry, { repo, path })).toMatch(/^note .*a file of the project/);
  rmSync(join(bin, 'memory-bank'));
  writeFileSync(join(bin, 'memory-bank'), '#!/bin/sh\ntouch marker\n', { mode: 0o755 });
  const line = look('project', entry, { repo, path, args: ['--start'] });
  expect(line).toMatch(/^WRONG .*ends with status 0 instead of serving/);
  expect(existsSync(repo.path('marker'))).toBe(true);
});

deep('doctor asks a server over HTTP, with the key of the entry', async () => {
  const repo = Repo.create();
  const server = await HttpProgram.start(
    [],
    { MEMORY_BANK_API_KEYS: 'key-of-the-test-server' },
    repo,
  );
  try {
    const url = `${server.url}/mcp`;
    const headers = { Authorization: `Bearer \${KEY}` };
    expect(look('project', { type: 'http', url, headers }, { repo })).toMatch(
      /^ok .*starts the server$/,
    );
    expect(look('personal', { url }, { repo })).toMatch(/^WRONG .*asks for a key/);
    expect(look('project', { url, headers })).toMatch(/^WRONG .* serves /);
  } finally {
    await server.stop();
  }
});

deep('doctor does not send a person in a circle for a configuration with comments', () => {
  const repo = Repo.create();
  const home = newFolder();
  repo.write('.mcp.json', '{\n  // mine\n  "mcpServers": {}\n}\n');
  const { stdout } = runProgram(repo.root, ['doctor'], {
    env: { PATH: process.env.PATH, HOME: home },
  });
  const line = stdout.split('\n').find((one) => one.includes('.mcp.json'));
  expect(line).toMatch(/init cannot edit it \(line 2: a comment.*add \{"memory-bank":.* by hand$/);
  expect(line).not.toContain('run memory-bank init');
});

describeDeep('doctor waits at most five seconds', () => {
  test('for a process and what it has started', () => {
    const line = look('personal', { command: 'sh', args: ['-c', 'sleep 1234567; true'] });
    expect(line).toMatch(/^WRONG .*does not answer within 5 seconds/);
    expect(spawnSync('pgrep', ['-f', 'sleep 1234567'], { encoding: 'utf8' }).stdout).toBe('');
  });

  test('for a URL', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((done) => silent.once('listening', done));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const line = look('personal', { url: `http://127.0.0.1:${port}/mcp` });
    expect(line).toMatch(/^WRONG .*does not answer within 5 seconds/);
    silent.closeAllConnections();
    silent.close();
  });
});
