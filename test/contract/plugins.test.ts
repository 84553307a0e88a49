import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { copyProgram, writePlugins } from '../../plugins/build.js';
import { manifests, texts, withProgram, withSkills } from '../../plugins/manifests.js';
import { hookEvents } from '../../src/app/hook/client-event.ts';
import { commandName } from '../../src/cli/line/tool-arguments.ts';
import { packageName } from '../../src/cli/setup/program/own-entry.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { deep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';
import { profileTools } from '../support/tool-list.ts';
import { inShell } from '../support/windows.ts';

const top = resolve(import.meta.dirname, '../..');
const version = expect.stringMatching(/^\d+\.\d+\.\d+$/);
const text = expect.stringMatching(/\S/);
const name = expect.stringMatching(/^[a-z0-9](?:[a-z0-9]|[-.](?![-.])){0,62}[a-z0-9]$/);
const author = { name: text };
const starter = {
  command: 'npx',
  args: ['-y', `${packageName}@${packageJson.version}`],
  env: { MEMORY_BANK_PROFILE: 'agent' },
};
const entry = { mcpServers: { memory: { type: 'stdio', ...starter } } };
const groups = [{ hooks: [{ type: 'command', command: text, timeout: expect.any(Number) }] }];

/** The documented required fields of each manifest. */
const required: Record<string, object> = {
  'agent-plugins/plugin.json': { $schema: text, name, version },
  'agent-plugins/mcp.json': { $schema: text, ...entry },
  '.claude-plugin/marketplace.json': {
    name,
    owner: { name: text },
    plugins: [{ name, source: './claude-code' }],
  },
  'claude-code/.claude-plugin/plugin.json': { name, version, description: text, author },
  'claude-code/.mcp.json': entry,
  '.agents/plugins/marketplace.json': {
    name,
    interface: { displayName: text },
    plugins: [{ name, source: { source: 'local', path: './codex' }, category: text }],
  },
  'claude-code/hooks/hooks.json': { hooks: { SessionStart: groups, UserPromptSubmit: groups } },
  'codex/.codex-plugin/plugin.json': { name, version, description: text, skills: './skills/' },
  'codex/hooks/hooks.json': { hooks: { SessionStart: groups, UserPromptSubmit: groups } },
  'cursor/hooks/hooks.json': { version: 1, hooks: { sessionStart: [{ command: text }] } },
  '.github/plugin/marketplace.json': { name, plugins: [{ name, source: './copilot' }] },
  'copilot/plugin.json': { name, version, hooks: 'hooks.json', mcpServers: '.mcp.json' },
  'copilot/.mcp.json': entry,
  'copilot/hooks.json': {
    version: 1,
    hooks: { sessionStart: [{ type: 'command', bash: text, powershell: text }] },
  },
  'gemini-cli/hooks/hooks.json': { hooks: { SessionStart: groups, BeforeAgent: groups } },
  'codex/.mcp.json': entry,
  'cursor/.cursor-plugin/plugin.json': { name, skills: './skills/', mcpServers: './mcp.json' },
  'cursor/mcp.json': { mcpServers: { memory: { command: 'npx' } } },
  'gemini-cli/gemini-extension.json': { name, version, mcpServers: { memory: {} } },
  'goose/plugin.json': { name, version, description: text },
  'goose/.mcp.json': { mcpServers: { memory: starter } },
  'kiro/mcp.json': { mcpServers: { 'memory-bank': starter } },
  'claude-desktop/manifest.json': {
    manifest_version: '0.3',
    name,
    version,
    description: text,
    author,
    server: { type: 'node', entry_point: text, mcp_config: { command: 'node' } },
    user_config: { project: { type: 'directory', title: text, description: text, required: true } },
  },
  'server.json': {
    $schema: text,
    name: packageJson.mcpName,
    description: expect.stringMatching(/^.{1,100}$/),
    version,
    packages: [{ registryType: 'npm', identifier: packageName, transport: { type: 'stdio' } }],
  },
};

/** The fields that a format with a closed schema allows. */
const closed = [
  ...['$schema', 'name', 'version', 'description', 'author', 'homepage', 'repository', 'license'],
  ...['keywords', 'extensions'],
];

describe('the plugins', () => {
  it.each(Object.keys(manifests))('%s has the required fields', (path) => {
    expect(manifests[path]).toMatchObject(required[path] ?? { undocumented: path });
    const { version = packageJson.version } = { ...manifests[path] };
    // The version of a file with hooks is that of its format.
    if (!path.endsWith('hooks.json')) expect(version).toBe(packageJson.version);
  });

  it('have no unknown fields where the format allows none', () => {
    const portable = Object.keys(manifests['agent-plugins/plugin.json'] ?? {});
    expect(portable.filter((key) => !closed.includes(key))).toEqual([]);
    const cursor = [...closed, ...['skills', 'mcpServers', 'hooks']];
    const used = Object.keys(manifests['cursor/.cursor-plugin/plugin.json'] ?? {});
    expect(used.filter((key) => !cursor.includes(key))).toEqual([]);
    expect(Object.keys(manifests['agent-plugins/mcp.json'] ?? {})).toEqual([
      '$schema',
      'mcpServers',
    ]);
    // Only the plugin's own folders may be placeholders in this format.
    expect(JSON.stringify(manifests['agent-plugins/mcp.json'])).not.toContain('${');
  });

  it('describe the server to the registry with fields of its schema, within its limits', () => {
    const { packages, ...server } = manifests['server.json'] as Record<string, string> & {
      packages: { environmentVariables: object[]; [key: string]: unknown }[];
    };
    expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    const own = ['$schema', 'name', 'title', 'description', 'version', 'repository', 'websiteUrl'];
    expect(Object.keys(server).filter((key) => !own.includes(key))).toEqual([]);
    const known = [
      ...['registryType', 'identifier', 'version', 'transport', 'runtimeHint', 'fileSha256'],
      ...['runtimeArguments', 'packageArguments', 'environmentVariables'],
    ];
    const input = ['name', 'description', 'isRequired', 'isSecret', 'format', 'default'];
    for (const { environmentVariables, ...one } of packages) {
      expect(Object.keys(one).filter((key) => !known.includes(key))).toEqual([]);
      const used = environmentVariables.flatMap((variable) => Object.keys(variable));
      expect(used.filter((key) => !input.includes(key))).toEqual([]);
    }
  });

  it('never take their own folder as the project', () => {
    const servers = Object.values(manifests).map(({ mcpServers = {} }) => mcpServers);
    expect(JSON.stringify(servers)).not.toMatch(/PLUGIN_ROOT|extensionPath|"cwd"/);
  });

  it('have hooks that start the program of the plugin for an event that exists', () => {
    const all = Object.entries(manifests).filter(([path]) => path.endsWith('hooks.json'));
    expect(all.map(([path]) => path.split('/')[0])).toEqual(withProgram);
    for (const [, hooks] of all) {
      const commands: string[] = [];
      JSON.stringify(hooks, (key, value) => {
        if (/^(?:command|bash|powershell)$/.test(key) && value !== 'command')
          commands.push(String(value));
        return value;
      });
      expect(commands.length).toBeGreaterThan(0);
      for (const command of commands) {
        const start =
          /node "(?:\$\{\w+\}|\$env:\w+|%\w+%)\/program\/dist\/main\.cjs" hook ([a-z-]+)/g;
        const starts = [...command.matchAll(start)];
        // One for cmd and sh, two for PowerShell.
        expect(starts).toHaveLength(4);
        for (const [, event] of starts) expect(hookEvents).toContain(event);
      }
    }
  });

  inShell('have hooks that are silent and succeed where node or the program is missing', () => {
    for (const client of withProgram) {
      const file = client === 'copilot' ? 'copilot/hooks.json' : `${client}/hooks/hooks.json`;
      const command = /"(?:command|bash)":("set hook.*?[^\\]")/.exec(
        JSON.stringify(manifests[file]),
      );
      for (const PATH of [newFolder(), dirname(process.execPath)]) {
        // A folder of a user whose name would end quotes.
        const folder = join(newFolder(), "O'Brien");
        const variables = [
          'CLAUDE_PLUGIN_ROOT',
          'PLUGIN_ROOT',
          'CURSOR_PLUGIN_ROOT',
          'extensionPath',
        ];
        const text = variables.reduce(
          (part, name) => part.replaceAll(`\${${name}}`, folder),
          String(JSON.parse(command?.[1] ?? '')),
        );
        const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', text], {
          env: { PATH },
          encoding: 'utf8',
          input: '{}',
        });
        expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
      }
    }
  });

  deep('contain a program that answers hooks and has no pages', () => {
    const folder = newFolder();
    copyProgram(folder);
    expect(readdirSync(folder)).not.toContain('docs');
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(scripts).not.toHaveProperty('prepare');
    const repo = Repo.create();
    const run = (args: readonly string[], input = '') =>
      spawnSync(process.execPath, [join(folder, 'dist/main.cjs'), ...args], {
        cwd: repo.root,
        env: { PATH: process.env.PATH, HOME: folder },
        encoding: 'utf8',
        input,
      });
    run([
      'memory-write',
      '--category',
      'decisions',
      '--confirm',
      '--key',
      'k',
      '--value',
      'Use JWT',
    ]);
    const event = { hook_event_name: 'SessionStart', session_id: 's', cwd: repo.root };
    const { stdout } = run(['hook', 'session-start'], JSON.stringify(event));
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('Use JWT');
  });

  it('have a power with the fields that Kiro reads, which names only tools that it offers', () => {
    const power = texts['kiro/POWER.md'] ?? '';
    const [, fields = ''] = /^---\n([\s\S]*?)\n---\n/.exec(power) ?? [];
    const { name: own, displayName, description, keywords, author } = parse(fields);
    expect(own).toBe(packageJson.name);
    expect([displayName, description, author]).toEqual([text, text, text]);
    expect(keywords).toContain('memory');
    const offered = profileTools().map(({ name }) => name);
    const named = [...power.matchAll(/`([a-z_]+)`/g)].map(([, tool = '']) => tool);
    expect(named.filter((tool) => tool !== 'prompt' && !offered.includes(tool))).toEqual([]);
  });

  it('have a plugin of opencode that registers the server and starts the program next to it', async () => {
    const folder = newFolder();
    writePlugins(folder);
    const path = join(folder, 'opencode/plugins/memory-bank.js');
    const own = join(folder, 'plugin.mjs');
    writeFileSync(own, readFileSync(path, 'utf8'));
    const { default: module } = await import(/* @vite-ignore */ pathToFileURL(own).href);
    const plugin = await module.server({ directory: folder });
    const config: { mcp?: Record<string, { command?: string[] }> } = {};
    await plugin.config(config);
    const main = join(dirname(folder), 'memory-bank/dist/main.cjs');
    expect(config.mcp?.['memory-bank']).toMatchObject({ command: ['node', main] });
    const mine = { command: ['mine'] };
    const given = { mcp: { 'memory-bank': mine } };
    await plugin.config(given);
    expect(given.mcp['memory-bank']).toBe(mine);
    const servers = new Map<string, object>();
    const hook = async () => {};
    const transform = async (act: (servers: Map<string, object>) => void) => act(servers);
    const version2 = { session: { hook }, tool: { hook }, mcp: { transform } };
    await module.setup(version2);
    expect(servers.get('memory-bank')).toMatchObject({ type: 'local', command: ['node', main] });
    servers.set('memory-bank', mine);
    await module.setup(version2);
    expect(servers.get('memory-bank')).toBe(mine);
  });

  it('are written with their skills', () => {
    const folder = newFolder();
    writePlugins(folder);
    for (const [path, content] of Object.entries(manifests)) {
      expect(JSON.parse(readFileSync(join(folder, path), 'utf8'))).toEqual(content);
    }
    for (const plugin of withSkills) {
      expect(readdirSync(join(folder, plugin, 'skills'))).toContain('remember');
    }
  });
});

describe('the skills', () => {
  const tools = toolsets.flatMap((toolset) => toolset.tools);
  const offered = profileTools().map(({ name }) => name);
  const commands = new Set([
    ...tools.flatMap((tool) => [commandName(tool.name), tool.command?.name ?? '']),
    ...[...readFileSync(join(top, 'docs/cli.md'), 'utf8').matchAll(/memory-bank ([a-z-]+)/g)].map(
      ([, word = '']) => word,
    ),
  ]);

  it.each(readdirSync(join(top, 'plugins/skills')))('%s names what exists', (skill) => {
    const page = readFileSync(join(top, 'plugins/skills', skill, 'SKILL.md'), 'utf8');
    expect(page.split('\n').length).toBeLessThanOrEqual(60);
    expect(page).toMatch(new RegExp(`^---\nname: ${skill}\ndescription: \\S.*\n---\n`));
    const quoted = [...page.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
    const named = quoted.filter((code) => /^\w+$/.test(code));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((tool) => !offered.includes(tool))).toEqual([]);
    const run = quoted.flatMap((code) => /^memory-bank ([\w-]+)/.exec(code)?.[1] ?? []);
    expect(run.filter((command) => !commands.has(command))).toEqual([]);
  });
});
