import { join } from 'node:path';
import { personalPath, projectPath } from '../../app/project-file.ts';
import { json, jsonWithComments } from './json-entry.ts';
import type { Language } from './language.ts';
import { toml } from './toml-entry.ts';

/** How a client is to start the server. */
export interface Start {
  /** Only where the client wants to be told. */
  readonly type?: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: { readonly [name: string]: string };
}

/** What the places of configurations depend on. */
export interface Surroundings {
  readonly root: string;
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly platform: NodeJS.Platform;
}

/** An MCP client that can be told of the server. */
export interface McpClient {
  readonly title: string;
  /** Absolute path of the file that lists its servers. */
  config(around: Surroundings): string;
  /** Whether that file is the user's own, outside of any project. */
  readonly personal?: boolean;
  /** Files or folders that show that somebody uses it here. */
  signs(around: Surroundings): readonly string[];
  /** What its configuration is written in. */
  readonly language: Language;
  /** Where in it the servers are listed. */
  readonly servers: string;
  /** What of the start is different for it. */
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

const stdio = (start: Start): Start => ({ type: 'stdio', ...start });

/** The clients by the name that `--clients` takes. */
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
    language: json,
    servers: 'mcpServers',
    start: stdio,
  },
  codex: {
    title: 'Codex',
    config: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    personal: true,
    signs: ({ home, env }) => [env.CODEX_HOME || join(home, '.codex')],
    language: toml,
    servers: 'mcp_servers',
  },
  cursor: {
    title: 'Cursor',
    config: ({ root }) => join(root, '.cursor', 'mcp.json'),
    signs: ({ root }) => [join(root, '.cursor')],
    language: json,
    servers: 'mcpServers',
    // It starts servers in the home directory.
    start: (start) => ({ ...start, env: { MEMORY_BANK_ROOT: `\${workspaceFolder}` } }),
  },
  vscode: {
    title: 'VS Code',
    config: ({ root }) => join(root, '.vscode', 'mcp.json'),
    signs: ({ root }) => [join(root, '.vscode')],
    language: jsonWithComments,
    servers: 'servers',
    start: stdio,
  },
  gemini: {
    title: 'Gemini CLI',
    config: ({ root }) => join(root, '.gemini', 'settings.json'),
    signs: ({ root, home }) => [join(root, '.gemini'), join(home, '.gemini')],
    language: jsonWithComments,
    servers: 'mcpServers',
  },
  cline: {
    title: 'Cline',
    config: (around) => join(clineFolder(around), 'settings', 'cline_mcp_settings.json'),
    personal: true,
    signs: (around) => [clineFolder(around)],
    language: json,
    servers: 'mcpServers',
    // Its settings are those of the user, and so tell which project is meant.
    start: (start, { root }) => ({ ...start, args: [...start.args, '--root', root] }),
  },
};

function clineFolder({ home, env, platform }: Surroundings): string {
  const settings =
    platform === 'win32'
      ? (env.APPDATA ?? join(home, 'AppData', 'Roaming'))
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : (env.XDG_CONFIG_HOME ?? join(home, '.config'));
  return join(settings, 'Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev');
}
