import { isAbsolute, join } from 'node:path';
import type { Surroundings } from '../program/surroundings.ts';

/**
 * The absolute path of a place in the table of clients.
 *
 * A place is a path in the project (`.mcp.json`), in the home directory (`~/.cline`), in the folder of
 * settings (`{config}/goose`), in the one where applications of the system have theirs
 * (`{application}/Code`), or in a folder that a variable can name (`{CODEX_HOME:~/.codex}/config.toml`).
 */
export function placed(place: string, around: Surroundings): string {
  const { root, home, env } = around;
  const [, name, usual, rest = ''] = /^\{(\w+)(?::([^}]*))?\}\/?(.*)$/.exec(place) ?? [];
  if (name === 'config') return join(configFolder(around), rest);
  if (name === 'application') return join(applicationFolder(around), rest);
  if (name !== undefined) return join(env[name] || placed(usual ?? '~', around), rest);
  return place.startsWith('~') ? join(home, place.slice(1)) : join(root, place);
}

/** Whether a place is outside of projects, in files of the user. */
export function isPersonal(place: string): boolean {
  return /^[~{]/.test(place);
}

/** A place as people read it. */
export function placeText(place: string): string {
  return place
    .replace(/^\{config\}/, '~/.config')
    .replace(/^\{application\}\//, '')
    .replace(/^\{\w+:([^}]*)\}/, '$1');
}

function configFolder({ home, env }: Surroundings): string {
  const given = env.XDG_CONFIG_HOME;
  return given !== undefined && isAbsolute(given) ? given : join(home, '.config');
}

function applicationFolder(around: Surroundings): string {
  const { home, env, platform } = around;
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return configFolder(around);
}
