import { join } from 'node:path';
import { personalPath, projectPath } from '../../../app/project/project-file.ts';
import { json, jsonWithComments } from '../language/json-entry.ts';
import type { Language } from '../language/language.ts';
import { toml } from '../language/toml-entry.ts';
import type { Surroundings } from '../program/surroundings.ts';
import type { ToolLimits } from './listed-tools.ts';

/** The command by which a client starts the server. */
export interface Start {
  /** Only for a client that requires it. */
  readonly type?: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: { readonly [name: string]: string };
}

/** An MCP client whose configuration the setup can edit. */
export interface McpClient {
  readonly title: string;
  /** Absolute path of the file that lists its servers. */
  config(around: Surroundings): string;
  /** Whether that file is the user's own, outside any project. */
  readonly personal?: boolean;
  /** Whether its entry has to name the one project that it serves. */
  readonly namesProject?: boolean;
  /** Files or folders whose presence shows that the client is in use here. */
  signs(around: Surroundings): readonly string[];
  readonly limits: ToolLimits;
  /** The language of its configuration. */
  readonly language: Language;
  /** The key of the list of servers in it. */
  readonly servers: string;
  /** Adapts the command to the client. */
  start?(start: Start, around: Surroundings): Start;
}

/**
 * The real path of a client's configuration, which is what is shown, read and written.
 *
 * @throws MemoryError `damaged` for a link in the project that leads out of it, or one that leads
 *   nowhere.
 */
export function configPath(client: McpClient, around: Surroundings): string {
  const path = client.config(around);
  return client.personal ? personalPath(path) : projectPath(around.root, path);
}

/** The name of the entry in every configuration. */
export const entryName = 'memory-bank';

/** The form of a name in most clients, and the length that services of models take. */
const usual: ToolLimits = { prefix: `mcp__${entryName}__`, nameLength: 64 };

const stdio = (start: Start): Start => ({ type: 'stdio', ...start });

/** Clients by the name that `--clients` takes. */
export const clients: { readonly [name: string]: McpClient } = {
  claude: {
    title: 'Claude Code',
    config: ({ root }) => join(root, '.mcp.json'),
    signs: ({ root, home }) => [
      join(root, '.mcp.json'),
      join(root, '.claude'),
      join(root, 'CLAUDE.md'),
      join(home, '.claude'),
    ],
    limits: usual,
    language: json,
    servers: 'mcpServers',
    start: stdio,
  },
  codex: {
    title: 'Codex',
    config: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    personal: true,
    signs: ({ home, env }) => [env.CODEX_HOME || join(home, '.codex')],
    limits: usual,
    language: toml,
    servers: 'mcp_servers',
  },
  cursor: {
    title: 'Cursor',
    config: ({ root }) => join(root, '.cursor', 'mcp.json'),
    signs: ({ root }) => [join(root, '.cursor')],
    limits: { tools: 80, prefix: `${entryName}:`, nameLength: 60 },
    language: json,
    servers: 'mcpServers',
    // It starts servers in the home directory.
    start: (start) => ({
      ...start,
      env: { ...start.env, MEMORY_BANK_ROOT: `\${workspaceFolder}` },
    }),
  },
  vscode: {
    title: 'VS Code',
    config: ({ root }) => join(root, '.vscode', 'mcp.json'),
    signs: ({ root }) => [join(root, '.vscode')],
    limits: { tools: 128, prefix: `mcp_${entryName}_`, nameLength: 64 },
    language: jsonWithComments,
    servers: 'servers',
    start: stdio,
  },
  copilot: {
    title: 'Copilot CLI',
    // It also reads the file of Claude Code.
    config: ({ root }) => join(root, '.mcp.json'),
    signs: ({ root, home }) => [join(root, '.github', 'hooks'), join(home, '.copilot')],
    limits: { prefix: `${entryName}-`, nameLength: 64 },
    language: json,
    servers: 'mcpServers',
    start: stdio,
  },
  gemini: {
    title: 'Gemini CLI',
    config: ({ root }) => join(root, '.gemini', 'settings.json'),
    signs: ({ root, home }) => [join(root, '.gemini'), join(home, '.gemini')],
    limits: { prefix: `mcp_${entryName}_`, nameLength: 64 },
    language: jsonWithComments,
    servers: 'mcpServers',
  },
  cline: {
    title: 'Cline',
    config: (around) => join(clineFolder(around), 'settings', 'cline_mcp_settings.json'),
    personal: true,
    namesProject: true,
    signs: (around) => [clineFolder(around)],
    limits: usual,
    language: json,
    servers: 'mcpServers',
    // Its settings are per user, so the entry names the project.
    start: (start, { root }) => ({ ...start, args: [...start.args, '--root', root] }),
  },
};

/**
 * Clients that the setup does not edit, and that refuse or hide a server with many tools.
 *
 * A user adds the entry by hand, so only `doctor` looks at it.
 */
export const limitedClients: readonly McpClient[] = [
  {
    title: 'Devin Desktop',
    config: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    personal: true,
    namesProject: true,
    signs: () => [],
    limits: { ...usual, tools: 100 },
    language: json,
    servers: 'mcpServers',
  },
  {
    title: 'Antigravity',
    config: ({ root }) => join(root, '.agents', 'mcp_config.json'),
    signs: () => [],
    limits: { ...usual, tools: 100 },
    language: json,
    servers: 'mcpServers',
  },
];

function clineFolder({ home, env, platform }: Surroundings): string {
  const settings =
    platform === 'win32'
      ? env.APPDATA || join(home, 'AppData', 'Roaming')
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : env.XDG_CONFIG_HOME || join(home, '.config');
  return join(settings, 'Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev');
}
