import { join } from 'node:path';

/** The variables by which clients name the folder of the plugin that starts the server. */
export const pluginVariables = ['PLUGIN_ROOT', 'CLAUDE_PLUGIN_ROOT', 'CURSOR_PLUGIN_ROOT'] as const;

/** The variables and the folder that decide where plugins are. */
interface Surroundings {
  readonly env: { readonly [name: string]: string | undefined };
  readonly home: string;
}

/** A folder into which a client unpacks plugins. */
interface PluginCache {
  readonly client: string;
  /** Absolute path; it may be missing. */
  readonly folder: string;
}

/**
 * Lists the known folders into which clients unpack plugins.
 *
 * Folders for plugins that a person adds by hand (`~/.cursor/plugins/local`) are not listed.
 *
 * | client         | source                                                                |
 * | -------------- | --------------------------------------------------------------------- |
 * | Claude Code    | code.claude.com/docs, "Plugin caching"; CLAUDE_CONFIG_DIR moves it     |
 * | Claude Desktop | its folder "Claude Extensions", where it unpacks .mcpb files           |
 * | Codex          | OpenHands/extensions issue 257; CODEX_HOME moves it                    |
 * | Cursor         | vercel/vercel-plugin issue 125                                        |
 * | Gemini CLI     | geminicli.com/docs/extensions: `extensions install` makes a copy       |
 * | VS Code        | its source: `agentPluginsHome` is `~/{dataFolderName}/agent-plugins`    |
 * | Copilot CLI    | microsoft/vscode issue 302152                                         |
 */
export function pluginCaches({ env, home }: Surroundings): readonly PluginCache[] {
  const claude = env.CLAUDE_CONFIG_DIR || join(home, '.claude');
  const codex = env.CODEX_HOME || join(home, '.codex');
  const desktop = env.APPDATA || join(home, 'Library', 'Application Support');
  return [
    { client: 'Claude Code', folder: join(claude, 'plugins', 'cache') },
    { client: 'Claude Code', folder: join(claude, 'plugins', 'marketplaces') },
    { client: 'Claude Desktop', folder: join(desktop, 'Claude', 'Claude Extensions') },
    { client: 'Codex', folder: join(codex, 'plugins', 'cache') },
    { client: 'Codex', folder: join(codex, '.tmp', 'marketplaces') },
    { client: 'Cursor', folder: join(home, '.cursor', 'plugins', 'cache') },
    { client: 'Gemini CLI', folder: join(home, '.gemini', 'extensions') },
    { client: 'VS Code', folder: join(home, '.vscode', 'agent-plugins') },
    { client: 'Copilot CLI', folder: join(home, '.copilot', 'installed-plugins') },
  ];
}
