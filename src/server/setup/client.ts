import { join } from 'node:path';
import { editJson } from './json-entry.ts';
import { editToml } from './toml-entry.ts';

/** How a client is to start the server. */
export interface Start {
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
export interface Client {
  readonly title: string;
  /** Absolute path of the file that lists its servers. */
  config(around: Surroundings): string;
  /** Files or folders that show that somebody uses it here. */
  signs(around: Surroundings): readonly string[];
  /**
   * The text of the configuration with the entry of the server, or without it.
   *
   * @throws MemoryError `damaged` when the text cannot be edited safely.
   */
  edit(text: string, start: Start | undefined): string;
  /** What of the start is different for it. */
  start?(start: Start, around: Surroundings): Start;
}

/** The name of the entry in every configuration. */
export const entryName = 'memory-bank';

const stdio = (start: Start) => ({ type: 'stdio', ...start });

/** The clients by the name that `--clients` takes. */
export const clients: { readonly [name: string]: Client } = {
  claude: {
    title: 'Claude Code',
    config: ({ root }) => join(root, '.mcp.json'),
    signs: ({ root, home }) => [
      join(root, '.mcp.json'),
      join(root, '.claude'),
      join(root, 'CLAUDE.md'),
      join(home, '.claude'),
    ],
    edit: (text, start) => editJson(text, ['mcpServers', entryName], start && stdio(start)),
  },
  codex: {
    title: 'Codex',
    config: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    signs: ({ home, env }) => [env.CODEX_HOME || join(home, '.codex')],
    edit: (text, start) => editToml(text, ['mcp_servers', entryName], start),
  },
  cursor: {
    title: 'Cursor',
    config: ({ root }) => join(root, '.cursor', 'mcp.json'),
    signs: ({ root }) => [join(root, '.cursor')],
    edit: (text, start) => editJson(text, ['mcpServers', entryName], start),
    // It starts servers in the home directory.
    start: (start) => ({ ...start, env: { MEMORY_BANK_ROOT: `\${workspaceFolder}` } }),
  },
  vscode: {
    title: 'VS Code',
    config: ({ root }) => join(root, '.vscode', 'mcp.json'),
    signs: ({ root }) => [join(root, '.vscode')],
    edit: (text, start) => editJson(text, ['servers', entryName], start && stdio(start)),
  },
  gemini: {
    title: 'Gemini CLI',
    config: ({ root }) => join(root, '.gemini', 'settings.json'),
    signs: ({ root, home }) => [join(root, '.gemini'), join(home, '.gemini')],
    edit: (text, start) => editJson(text, ['mcpServers', entryName], start),
  },
  cline: {
    title: 'Cline',
    config: (around) => join(clineFolder(around), 'settings', 'cline_mcp_settings.json'),
    signs: (around) => [clineFolder(around)],
    edit: (text, start) => editJson(text, ['mcpServers', entryName], start),
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
