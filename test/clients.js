// `npm run test:clients`: installs the clients into a scratch folder, and validates the plugins with them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const plugins = resolve(import.meta.dirname, '../dist/plugins');

/** The npm package of each client, and its commands that must succeed. */
const clients = [
  {
    name: '@anthropic-ai/claude-code',
    commands: [
      ['claude', 'plugin', 'validate', plugins],
      ['claude', 'plugin', 'validate', join(plugins, 'claude-code')],
      ['claude', 'plugin', 'marketplace', 'add', plugins],
      ['claude', 'plugin', 'install', 'memory-bank@memory-bank'],
      ['claude', 'mcp', 'list'],
    ],
  },
  {
    name: '@openai/codex',
    commands: [
      ['codex', 'plugin', 'marketplace', 'add', plugins],
      ['codex', 'plugin', 'add', 'memory-bank@memory-bank'],
      ['codex', 'mcp', 'get', 'memory-bank'],
      ['codex', 'mcp', 'list'],
    ],
  },
  {
    name: '@google/gemini-cli',
    commands: [
      ['gemini', 'extensions', 'validate', join(plugins, 'gemini-cli')],
      ['gemini', 'extensions', 'list'],
    ],
  },
  {
    name: '@anthropic-ai/mcpb',
    commands: [['mcpb', 'validate', join(plugins, 'claude-desktop/manifest.json')]],
  },
];

const scratch = mkdtempSync(join(tmpdir(), 'memory-bank-clients-'));
try {
  // The clients write their settings below this home directory.
  const home = join(scratch, 'home');
  mkdirSync(join(home, '.codex'), { recursive: true });
  writeFileSync(join(scratch, 'package.json'), '{ "private": true }');
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home };
  for (const { name, commands } of clients) {
    const install = spawnSync('npm', ['install', '--no-audit', '--no-fund', name], {
      cwd: scratch,
      encoding: 'utf8',
    });
    if (install.status !== 0) {
      console.log(`skipped: ${name} cannot be installed`);
      continue;
    }
    for (const [program = '', ...args] of commands) {
      const { status, stdout, stderr } = spawnSync(
        join(scratch, 'node_modules/.bin', program),
        args,
        { cwd: scratch, env, encoding: 'utf8', timeout: 60_000 },
      );
      console.log(`${status === 0 ? 'passed' : 'FAILED'}: ${program} ${args.join(' ')}`);
      if (status === 0) continue;
      console.log(stdout, stderr);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
