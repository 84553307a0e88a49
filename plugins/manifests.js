// The manifests of the plugins for every client, made from package.json and the constants of this file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @type {{ name: string, version: string, description: string, license: string, mcpName: string, files: string[] }} */
export const about = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));

/** The name of the plugin and of the command. */
const name = 'memory-bank';

/**
 * The name of the server in a plugin.
 *
 * Claude Code offers a tool as `mcp__plugin_<plugin>_<server>__<tool>`, and models take at most 64
 * characters: with the plugin's own name here, the longest names of the graph would have 66.
 */
export const serverName = 'memory';
const author = { name: `the authors of ${name}` };
const title = 'Memory Bank';
const keywords = ['memory', 'git', 'mcp'];

/** Offers the tools that an agent needs; MEMORY_BANK_TOOLSETS of the user selects others. */
const profile = { MEMORY_BANK_PROFILE: 'agent' };

/** Starts the server of exactly this version. */
const command = 'npx';
const args = ['-y', `${about.name}@${about.version}`];

const portable = { name, version: about.version, description: about.description, author };
const identity = { ...portable, license: about.license, keywords };

/**
 * The entry that starts the server.
 *
 * @param {Record<string, string>} env variables next to the profile, such as the project's folder.
 */
function server(env = {}) {
  return { command, args, env: { ...profile, ...env } };
}

/** @param {Record<string, string>} [env] */
function stdio(env) {
  return { mcpServers: { [serverName]: { type: 'stdio', ...server(env) } } };
}

/** @param {string} file */
function readSetup(file) {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../src/cli/setup', file), 'utf8'));
}

/** The settings of the hooks, by client, with the command "memory-bank hook". */
const hookSettings = readSetup('hook/hook-settings.json');
/** The form of a command that cannot fail, with places for the command in each shell. */
const { form } = readSetup('program/hook-command.json');

/** The folder of the program in a plugin with hooks: a start with npx would delay each prompt. */
export const programFolder = 'program';

/**
 * The hooks of a client, started from the program in the plugin.
 *
 * @param {string} client
 * @param {string} variable the client's variable for the folder of the plugin.
 * @param {string} [powershell] how the client's commands for PowerShell name it.
 * @returns {Record<string, unknown>}
 */
function hooksOf(client, variable, powershell = `\${${variable}}`) {
  return JSON.parse(JSON.stringify(hookSettings[client]), (_, value) => {
    if (typeof value !== 'string' || !value.startsWith(`${name} hook`)) return value;
    const event = value.slice(`${name} hook `.length);
    /** @param {string} folder */
    const line = (folder) => `node "${folder}/${programFolder}/dist/main.cjs" hook ${event}`;
    // The client may replace the variable by a path with an apostrophe, which would end the quotes
    // round the command for cmd.
    return form
      .replaceAll('{cmd}', () => line(`%${variable}%`))
      .replaceAll('{sh}', () => line(`\${${variable}}`))
      .replaceAll('{powershell}', () => line(powershell))
      .replaceAll('{start}', '{');
  });
}

/**
 * The list of the plugins for a client, in the format of Claude Code.
 *
 * @param {string} source the folder of the plugin.
 */
function marketplace(source) {
  return {
    name,
    owner: author,
    metadata: { description: about.description, version: about.version },
    plugins: [{ source, ...portable, keywords }],
  };
}

const schemas = 'https://agent-plugins.org/schemas/1.0.0';

/**
 * The JSON files of all plugins by their path in the output folder.
 *
 * @type {Readonly<Record<string, Record<string, unknown>>>}
 */
export const manifests = {
  // VS Code and Copilot load this format.
  'agent-plugins/plugin.json': { $schema: `${schemas}/plugin.schema.json`, ...identity },
  'agent-plugins/mcp.json': { $schema: `${schemas}/mcp.schema.json`, ...stdio() },
  '.claude-plugin/marketplace.json': marketplace('./claude-code'),
  'claude-code/.claude-plugin/plugin.json': identity,
  // Claude Code itself sets CLAUDE_PROJECT_DIR for the server.
  'claude-code/.mcp.json': stdio(),
  'claude-code/hooks/hooks.json': hooksOf('claude', 'CLAUDE_PLUGIN_ROOT'),
  '.agents/plugins/marketplace.json': {
    name,
    interface: { displayName: title },
    plugins: [
      {
        name,
        source: { source: 'local', path: './codex' },
        policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
        category: 'Developer Tools',
      },
    ],
  },
  'codex/.codex-plugin/plugin.json': {
    ...identity,
    skills: './skills/',
    mcpServers: './.mcp.json',
    hooks: './hooks/hooks.json',
    interface: {
      displayName: title,
      shortDescription: about.description,
      developerName: author.name,
      category: 'Developer Tools',
    },
  },
  'codex/.mcp.json': stdio(),
  'codex/hooks/hooks.json': hooksOf('codex', 'PLUGIN_ROOT'),
  'cursor/.cursor-plugin/plugin.json': {
    ...identity,
    skills: './skills/',
    mcpServers: './mcp.json',
    hooks: './hooks/hooks.json',
  },
  'cursor/hooks/hooks.json': hooksOf('cursor', 'CURSOR_PLUGIN_ROOT'),
  // A variable that a client does not replace is ignored by the server.
  'cursor/mcp.json': stdio({ MEMORY_BANK_ROOT: '${workspaceFolder}' }),
  // Copilot CLI prefers it to the one of Claude Code.
  '.github/plugin/marketplace.json': marketplace('./copilot'),
  // Copilot CLI sets PLUGIN_ROOT for hooks.
  'copilot/plugin.json': {
    ...identity,
    skills: 'skills/',
    hooks: 'hooks.json',
    mcpServers: '.mcp.json',
  },
  'copilot/.mcp.json': stdio(),
  'copilot/hooks.json': hooksOf('copilot', 'PLUGIN_ROOT', '$env:PLUGIN_ROOT'),
  'gemini-cli/gemini-extension.json': {
    name,
    version: about.version,
    description: about.description,
    mcpServers: { [serverName]: server({ MEMORY_BANK_ROOT: '${workspacePath}' }) },
  },
  'gemini-cli/hooks/hooks.json': hooksOf('gemini', 'extensionPath'),
  // Goose only watches most events, so that hooks would have nothing to say.
  'goose/plugin.json': { ...portable, license: about.license },
  'goose/.mcp.json': { mcpServers: { [serverName]: server() } },
  'kiro/mcp.json': { mcpServers: { [name]: server() } },
  'claude-desktop/manifest.json': {
    manifest_version: '0.3',
    display_name: title,
    ...portable,
    license: about.license,
    keywords,
    server: {
      type: 'node',
      entry_point: 'server/dist/main.cjs',
      mcp_config: {
        command: 'node',
        args: [
          '${__dirname}/server/dist/main.cjs',
          ...['--root', '${user_config.project}'],
          ...['--toolsets', '${user_config.toolsets}'],
        ],
        env: profile,
      },
    },
    user_config: {
      project: {
        type: 'directory',
        title: 'Project',
        description: 'The folder of the project whose memory is served',
        required: true,
      },
      toolsets: {
        type: 'string',
        title: 'Toolsets',
        description:
          'The toolsets to offer, with commas between them; empty for the tools that an agent needs',
        default: '',
      },
    },
    compatibility: { runtimes: { node: '>=20.19' } },
  },
  'server.json': {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: about.mcpName,
    title,
    // The registry takes at most 100 characters.
    description:
      'Project memory for coding agents: readable files, one git commit for every change',
    version: about.version,
    packages: [
      {
        registryType: 'npm',
        identifier: about.name,
        version: about.version,
        transport: { type: 'stdio' },
        environmentVariables: [
          { name: 'MEMORY_BANK_ROOT', description: 'The folder of the project to serve' },
          {
            name: 'MEMORY_BANK_PROFILE',
            description: '"agent" lists the tools that an agent needs',
          },
          { name: 'MEMORY_BANK_TOOLSETS', description: 'The toolsets to offer; all by default' },
        ],
      },
    ],
  },
};

/**
 * The other files of the plugins by their path in the output folder.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const texts = {
  'kiro/POWER.md': readFileSync(join(import.meta.dirname, 'POWER.md'), 'utf8'),
  // The client loads it from `plugins` in a folder of settings, next to which the program is.
  'opencode/plugins/memory-bank.js': readFileSync(join(import.meta.dirname, 'opencode.js'), 'utf8')
    .replace(/^\/\/ Made by .*$/m, `// The plugin of ${name} ${about.version}.`)
    .replace(
      /^const program = .*$/m,
      `const program = ['node', join(import.meta.dirname, '../${name}/dist/main.cjs')];`,
    )
    .replace(/^import \{ spawn \}.*$/m, (line) => `${line}\nimport { join } from 'node:path';`)
    .replace(/^const registers = .*$/m, 'const registers = true;'),
};

/** The plugins that contain the skills. */
export const withSkills = [
  'goose',
  'opencode',
  'agent-plugins',
  'claude-code',
  'codex',
  'cursor',
  'copilot',
  'gemini-cli',
];

/** The plugins whose hooks start a copy of the program. */
export const withProgram = ['claude-code', 'codex', 'cursor', 'copilot', 'gemini-cli'];

/** The folder of the program in the plugin of opencode, whose users copy all into a folder of settings. */
export const opencodeProgram = `opencode/${name}`;
