import { isObject } from '../../../core/values/json.ts';

/** The command by which a client starts the server. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: { readonly [name: string]: string | undefined };
}

/** The form in which a client writes an entry. */
export interface EntryShape {
  /** Members that do not depend on the command; a person may change them. */
  readonly constant: { readonly [name: string]: unknown };
  /** Members that say how the server is started. */
  start(start: Start): object;
  /** An entry for a server over HTTP. */
  remote(url: string): object;
}

/** `command`, `args` and `env`, as most clients have them. */
export const usualShape: EntryShape = {
  constant: {},
  start: ({ command, args, env }) => ({ command, args, ...(env && { env }) }),
  remote: (url) => ({ url }),
};

/** With a member that names the transport. */
export const typedShape: EntryShape = {
  ...usualShape,
  constant: { type: 'stdio' },
  remote: (url) => ({ type: 'http', url }),
};

/** The command and its arguments in one list. */
export const listShape: EntryShape = {
  constant: { type: 'local' },
  start: ({ command, args, env }) => ({
    command: [command, ...args],
    ...(env && { environment: env }),
  }),
  remote: (url) => ({ type: 'remote', url }),
};

/** An extension of Goose. */
export const extensionShape: EntryShape = {
  constant: { type: 'stdio', name: 'memory-bank', enabled: true, timeout: 300 },
  start: ({ command, args, env }) => ({ cmd: command, args, ...(env && { envs: env }) }),
  remote: (url) => ({ type: 'streamable_http', uri: url }),
};

/** The members under which clients write the parts of an entry. */
const names = {
  env: ['env', 'environment', 'envs'],
  cwd: ['cwd', 'working_directory'],
  url: ['url', 'httpUrl', 'serverUrl', 'uri'],
  headers: ['headers', 'http_headers'],
} as const;

/** An entry of any client in the form that most have; anything but an object stays as it is. */
export function usualEntry(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const part = (keys: readonly string[]) =>
    keys.map((key) => entry[key]).find((value) => value !== undefined);
  const given = entry.command ?? entry.cmd;
  const words: unknown[] = Array.isArray(given) ? given : [given];
  const [command, ...args] = words;
  const parts = Object.entries(names).map(([name, keys]) => [name, part(keys)] as const);
  const all = {
    ...Object.fromEntries(parts),
    command,
    args: Array.isArray(given) ? args : entry.args,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
