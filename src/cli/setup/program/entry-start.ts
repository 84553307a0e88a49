import { existsSync, type Stats, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import { isObject } from '../../../core/values/json.ts';
import { binName, ownMain, packageName, realPath, withoutCmd } from './own-entry.ts';
import type { ServerProcess } from './server-probe.ts';
import type { Surroundings } from './surroundings.ts';

/** The action of a client for an entry: it starts a process, or connects to a URL. */
export type EntryStart =
  | { readonly process: ServerProcess }
  | { readonly url: string; readonly headers: { readonly [name: string]: string } };

/** An entry that is not started; the message follows "not started: ". */
export class NotStarted extends Error {}

/** An entry that cannot be started; the message follows the path of its file. */
export class CannotStart extends Error {}

/** An entry whose program is not on the PATH. */
export class NotOnPath extends CannotStart {}

/**
 * Returns the action of a client for an entry.
 *
 * @param trusted whether the entry may name any program. An entry of the project's own files came with
 *   a clone: only this program is started for it, in a way that runs no file of the project.
 * @throws NotStarted with the reason, CannotStart for a program that does not exist.
 */
export function startOfEntry(entry: unknown, around: Surroundings, trusted: boolean): EntryStart {
  if (!isObject(entry)) throw new CannotStart('is not an object');
  const expand = (text: string) => expanded(text, around);
  const url = [entry.url, entry.httpUrl].find((value) => typeof value === 'string');
  if (url !== undefined) {
    const headers = Object.entries(texts(entry.headers)).map(([name, value]) => [
      name.toLowerCase(),
      expand(value),
    ]);
    return checkedUrl(expand(url), Object.fromEntries(headers), trusted);
  }
  if (typeof entry.command !== 'string') throw new CannotStart('has neither a command nor a URL');
  const cwd = typeof entry.cwd === 'string' ? expand(entry.cwd) : '.';
  const folder = resolve(around.root, cwd);
  if (!kindOf(folder)?.isDirectory())
    throw new CannotStart(`starts in ${folder}, which is not a folder`);
  const given = [entry.command, ...(Array.isArray(entry.args) ? entry.args.map(String) : [])];
  // The probe itself starts a file for cmd with a shell.
  const words = around.platform === 'win32' ? withoutCmd(given) : given;
  const [command = '', ...args] = words.map(expand);
  const gone = [command, args[0] ?? ''].find((word) => isAbsolute(word) && !existsSync(word));
  if (gone !== undefined) throw new CannotStart(`starts ${gone}, which does not exist`);
  const env = Object.fromEntries(
    Object.entries(texts(entry.env)).map(([name, value]) => [name, expand(value)]),
  );
  const path = findProgram(command, folder, around);
  const start = { command: path, args, env: { ...around.env, ...env }, cwd: folder };
  const named = around.platform === 'win32' ? command.replace(/\.(?:cmd|exe)$/i, '') : command;
  return { process: trusted ? start : ownProcess(start, named, env, around) };
}

/** An entry of a project's files as a process that runs nothing but this program. */
function ownProcess(
  start: ServerProcess,
  named: string,
  env: { readonly [name: string]: string },
  around: Surroundings,
): ServerProcess {
  const { command, args, cwd } = start;
  const shown = [named, ...args].join(' ');
  const other = Object.keys(env).find((name) => !/^(?:MEMORY_BANK_\w+|DEBUG)$/.test(name));
  if (other !== undefined) throw new NotStarted(`it sets ${other}`);
  const real = realPath(command);
  if ([command, real].some((path) => path.startsWith(around.root + sep))) {
    throw new NotStarted(`it starts ${command}, a file of the project`);
  }
  // A name that was found on the PATH is what the user has installed; a path may lead anywhere.
  const isNode = named === 'node' || real === realPath(process.execPath);
  const self = realPath(ownMain());
  if (named === binName || real === self) {
    checkArguments(args);
    return start;
  }
  if (isNode && realPath(resolve(cwd, args[0] ?? '')) === self) {
    checkArguments(args.slice(1));
    return start;
  }
  if (named === 'npx') {
    const rest = args.filter((arg, i) => !(/^(?:-y|--yes)$/.test(arg) && i === 0));
    const [spec = '', ...options] = rest;
    const version = spec.startsWith(packageName) ? spec.slice(packageName.length) : undefined;
    if (version !== undefined && /^(?:@[\w.-]+)?$/.test(version)) {
      checkArguments(options);
      // In the project, npx would run what its node_modules and .npmrc say.
      return { ...start, cwd: around.home, env: { MEMORY_BANK_ROOT: cwd, ...start.env } };
    }
  }
  throw new NotStarted(`it starts "${shown}", which is not known to be this program`);
}

/** Refuses arguments that do more than start a server with options. */
function checkArguments(args: readonly string[]): void {
  const operand = args.find(
    (arg, i) =>
      !/^--[\w-]+(?:=|$)/.test(arg) &&
      !/^--(?:root|toolsets|profile|mode)$/.test(args[i - 1] ?? ''),
  );
  if (operand !== undefined) throw new NotStarted(`it gives "${operand}" as an argument`);
}

function checkedUrl(
  url: string,
  headers: { readonly [name: string]: string },
  trusted: boolean,
): EntryStart {
  const { protocol, hostname, pathname, search } = parsedUrl(url);
  if (!/^https?:$/.test(protocol)) throw new CannotStart(`names the URL ${url}, which is not HTTP`);
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) && protocol === 'http:';
  if (!trusted && !(isLocal && pathname === '/mcp' && search === '')) {
    throw new NotStarted(`it connects to ${url}`);
  }
  const { authorization } = headers;
  return { url, headers: trusted ? headers : { ...(authorization && { authorization }) } };
}

function parsedUrl(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw new CannotStart(`names ${JSON.stringify(url)}, which is not a URL`);
  }
}

/** The text with the variables of clients replaced. */
function expanded(text: string, { root, home, env }: Surroundings): string {
  return text.replace(/\$\{([^}]*)\}/g, (variable, name: string) => {
    if (name === 'workspaceFolder') return root;
    if (name === 'workspaceFolderBasename') return basename(root);
    if (name === 'userHome') return home;
    const [, key = '', usual] = /^(?:env:)?(\w+)(?::-(.*))?$/.exec(name) ?? [];
    const value = env[key] ?? usual;
    if (value === undefined) throw new NotStarted(`only the client knows ${variable}`);
    return value;
  });
}

/**
 * The path of a program, as a shell finds it.
 *
 * @throws CannotStart
 */
function findProgram(command: string, cwd: string, around: Surroundings): string {
  if (/[\\/]/.test(command)) {
    const path = resolve(cwd, command);
    if (existsSync(path)) return path;
    throw new CannotStart(`starts ${command}, which does not exist`);
  }
  const found = findOnPath(command, around);
  if (found !== undefined) return found;
  throw new NotOnPath(`starts "${command}", which is not on the PATH`);
}

/** The path of a program in an absolute folder of the PATH. */
export function findOnPath(
  name: string,
  { env, platform }: Pick<Surroundings, 'env' | 'platform'>,
): string | undefined {
  // npm also installs a file without an ending, for Git Bash only.
  const usual = /\.\w+$/.test(name) ? [''] : ['.exe', '.cmd', '.bat'];
  const endings = platform === 'win32' ? usual : [''];
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((part) => isAbsolute(part));
  return folders
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find((path) => kindOf(path)?.isFile());
}

function texts(value: unknown): { [name: string]: string } {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one)]));
}

function kindOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
