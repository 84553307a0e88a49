// `npm run test:plugins`: installs clients into a scratch folder, and validates the plugins with them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { manifests, serverName } from '../../plugins/manifests.js';

const plugins = resolve(import.meta.dirname, '../../dist/plugins');

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
      ['codex', 'mcp', 'get', serverName],
      ['codex', 'mcp', 'list'],
    ],
  },
  {
    name: '@github/copilot',
    commands: [
      ['copilot', 'plugin', 'marketplace', 'add', plugins],
      ['copilot', 'plugin', 'install', 'memory-bank@memory-bank'],
      ['copilot', 'plugin', 'list'],
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
  await validateBySchema();
  for (const { name, commands } of clients) {
    if (!install(name)) continue;
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

/**
 * Installs packages into the scratch folder.
 *
 * @param {string[]} names
 */
function install(...names) {
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', ...names], {
    cwd: scratch,
    encoding: 'utf8',
  });
  if (status !== 0) console.log(`skipped: ${names.join(', ')} cannot be installed`);
  return status === 0;
}

/** Validates each manifest that names its published schema. */
async function validateBySchema() {
  if (!install('ajv', 'ajv-formats')) return;
  const load = createRequire(join(scratch, 'package.json'));
  for (const [path, manifest] of Object.entries(manifests)) {
    const { $schema: address } = manifest;
    if (typeof address !== 'string') continue;
    const schema = await published(address);
    if (!schema) {
      console.log(`skipped: ${path}, because ${address} cannot be read`);
      continue;
    }
    const isNew = String(schema.$schema).includes('2020-12');
    const { default: Ajv } = load(isNew ? 'ajv/dist/2020' : 'ajv');
    const ajv = new Ajv({ strict: false, allErrors: true });
    load('ajv-formats').default(ajv);
    const isValid = ajv.validate(schema, manifest);
    console.log(`${isValid ? 'passed' : 'FAILED'}: ${path} by ${address}`);
    if (isValid) continue;
    console.log(ajv.errorsText());
    process.exitCode = 1;
  }
}

/**
 * Reads a published schema; undefined if that is not possible.
 *
 * @param {string} address
 * @returns {Promise<Record<string, unknown> | undefined>}
 */
async function published(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(20_000) });
    return answer.ok ? JSON.parse(await answer.text()) : undefined;
  } catch {
    return undefined;
  }
}
