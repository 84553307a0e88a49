import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { invalid, MemoryError } from '../core/error.ts';
import { NodeFiles } from '../git/disk/file-layer.ts';
import { findWorkTree } from '../git/repository/discover.ts';
import { contains } from '../git/repository/enclosure.ts';
import { pluginCaches, pluginVariables } from './plugin-folder.ts';

/** What the choice of the root depends on. */
export interface RootInput {
  /** The value of `--root`. */
  readonly flag: string | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  /** Where the program was started. */
  readonly cwd: string;
  /** The user's home directory. */
  readonly home: string;
  /** The URIs of the client's roots; asked only when nothing before them in the order is set. */
  clientRoots(): Promise<readonly string[]>;
}

/** What the choice of the root has to know of the file system. */
export interface RootProbe {
  /** The real path of a directory; undefined when there is none. */
  directory(path: string): Promise<string | undefined>;
  /** The top of the git work tree around a directory; undefined outside any. */
  workTree(path: string): Promise<string | undefined>;
}

/** The folder whose memory is served, and what said so. */
export interface Root {
  /** Absolute real path of the folder that holds `.memory-bank/`. */
  readonly path: string;
  readonly source: '--root' | 'MEMORY_BANK_ROOT' | 'CLAUDE_PROJECT_DIR' | 'client' | 'cwd';
}

/** The name of the folder that holds a project's memory. */
export const memoryFolderName = '.memory-bank';

const fix = 'Start the server in a project, or give its folder by --root or MEMORY_BANK_ROOT.';

const pluginFix =
  'An update of a plugin replaces its folder. Open a project in the client, or give its folder by --root or MEMORY_BANK_ROOT.';

/**
 * Finds the project to serve (RESOLUTIONS 3.5a).
 *
 * A current directory in the folder of the plugin that started the server does not count: clients
 * start a plugin's server there, and the next update of the plugin replaces the folder. A folder into
 * which a client unpacks plugins counts only when `--root` or `MEMORY_BANK_ROOT` names it.
 *
 * In this order: `--root`, `MEMORY_BANK_ROOT`, `CLAUDE_PROJECT_DIR`, the only root of the client, the
 * directory of the start. The first two are taken as they are; from the others the search goes up
 * inside a git work tree to the nearest folder that has a bank, else to the top of the work tree.
 *
 * @throws MemoryError `no_project` when the choice is no directory, `/`, the home directory or the folder of
 *   a plugin.
 */
export async function findRoot(input: RootInput, probe: RootProbe = disk): Promise<Root> {
  const { given, source } = await choose(input);
  const named = source === 'cwd' ? `The current directory ${given}` : `${given} (${source})`;
  const folder = await probe.directory(given);
  if (folder === undefined) {
    throw new MemoryError('no_project', `${named} is not a directory.`, { hint: fix });
  }
  const exact = source === '--root' || source === 'MEMORY_BANK_ROOT';
  if (source === 'cwd') await refusePluginFolder(input, probe);
  if (!exact) await refusePluginCache(folder, input, probe);
  const start = withoutMemoryFolder(folder);
  const path = exact ? start : await climb(start, probe);
  await refuseSystemFolder(path, input.home, probe);
  return { path, source };
}

/** Where a caller may point. */
export interface Reach {
  /** The user's home directory, which is refused. */
  readonly home: string;
  /** The folders that it has to be, or lie below; undefined for no such limit. */
  readonly within: readonly string[] | undefined;
}

/**
 * The folder that a caller points at, as a root; a path that ends in `.memory-bank` is the bank itself.
 *
 * @param create whether a folder that is not there is made.
 * @returns the real path of the root.
 * @throws MemoryError `forbidden` for what is out of reach, `no_project` for `/` and the home
 *   directory, `invalid_input` for a file, a folder that is not there and one inside of `.git` or of
 *   a bank, `cannot_create`.
 */
export async function rootAt(path: string, reach: Reach, create: boolean): Promise<string> {
  if (path.includes('\0')) throw invalid(['path'], 'must not contain a NUL character');
  const root = await realTarget(withoutMemoryFolder(path));
  await refuseOutOfReach(root, reach);
  const inner = root.split(sep).find((part) => /^\.(git|memory-bank)$/i.test(part));
  if (inner !== undefined) throw invalid(['path'], `must not lie inside of a folder ${inner}`);
  await refuseSystemFolder(root, reach.home, disk);
  if (create) await makeFolder(root);
  const folder = await disk.directory(root);
  if (folder === undefined) throw invalid(['path'], `there is no folder ${root}`);
  return folder;
}

/** Where the memory of the user lies, which all projects share. */
export function homeFolder(env: RootInput['env'], cwd: string, home: string): string {
  return resolve(cwd, env.MEMORY_BANK_HOME || join(home, memoryFolderName));
}

/** The directory of the start; under `npm start` the one in which npm was called. */
export function startDirectory(env: RootInput['env'], cwd: string, packageFolder: string): string {
  // npm runs a script in its package. Its variables reach whatever the script starts elsewhere, too.
  const own = cwd === packageFolder && env.npm_package_json === join(packageFolder, 'package.json');
  return own && env.INIT_CWD ? env.INIT_CWD : cwd;
}

async function choose(input: RootInput): Promise<{ given: string; source: Root['source'] }> {
  const settings = [
    ['--root', input.flag],
    ['MEMORY_BANK_ROOT', input.env.MEMORY_BANK_ROOT],
    ['CLAUDE_PROJECT_DIR', input.env.CLAUDE_PROJECT_DIR],
  ] as const;
  for (const [source, value] of settings) {
    if (isSet(value)) return { given: resolve(input.cwd, value), source };
  }
  const [only, ...others] = (await input.clientRoots()).flatMap(toPath);
  if (only !== undefined && others.length === 0) return { given: only, source: 'client' };
  return { given: resolve(input.cwd), source: 'cwd' };
}

/** A client that does not know a variable such as `${workspaceFolder}` passes it on as it is. */
function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '' && !/\$\{[^}]*\}/.test(value);
}

/** The path of a `file:` URI; nothing for any other root, which cannot hold files. */
function toPath(uri: string): string[] {
  try {
    return [fileURLToPath(uri)];
  } catch {
    return [];
  }
}

async function climb(start: string, probe: RootProbe): Promise<string> {
  const top = await probe.workTree(start);
  if (top === undefined) return start;
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder === top || folder === dirname(folder)) return top;
    if (await probe.directory(join(folder, memoryFolderName))) return folder;
  }
}

function withoutMemoryFolder(path: string): string {
  return basename(path) === memoryFolderName ? dirname(path) : path;
}

/** The path that a path leads to, links followed; its last parts need not be there. */
async function realTarget(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || path === dirname(path)) return real ?? path;
  return join(await realTarget(dirname(path)), basename(path));
}

async function refuseOutOfReach(path: string, { within }: Reach): Promise<void> {
  if (within === undefined) return;
  for (const folder of within) {
    if (contains(await realTarget(folder), path)) return;
  }
  throw new MemoryError('forbidden', `The folder ${path} is out of reach.`, {
    hint: 'Over HTTP it has to lie below the project that is served, or a folder that the server was started with --allow-folder for.',
  });
}

/**
 * Refuses a current directory in the folder of the plugin that started the server.
 *
 * @throws MemoryError `no_project` that names the variable.
 */
export async function refusePluginFolder(
  { env, cwd }: Pick<RootInput, 'env' | 'cwd'>,
  probe: RootProbe = disk,
): Promise<void> {
  const current = await probe.directory(resolve(cwd));
  for (const name of pluginVariables) {
    const value = env[name];
    const plugin = isSet(value) ? await probe.directory(resolve(cwd, value)) : undefined;
    if (current === undefined || plugin === undefined || !contains(plugin, current)) continue;
    throw new MemoryError(
      'no_project',
      `The current directory ${current} is in the folder of the plugin that started the server (${name}).`,
      { hint: pluginFix, data: { root: current } },
    );
  }
}

async function refusePluginCache(path: string, input: RootInput, probe: RootProbe): Promise<void> {
  for (const { client, folder } of pluginCaches(input)) {
    const cache = await probe.directory(folder);
    if (cache === undefined || !contains(cache, path)) continue;
    throw new MemoryError('no_project', `${path} is in ${cache}, where ${client} keeps plugins.`, {
      hint: pluginFix,
      data: { root: path },
    });
  }
}

async function refuseSystemFolder(path: string, home: string, probe: RootProbe): Promise<void> {
  const what =
    path === parse(path).root
      ? 'the root of the file system'
      : path === ((await probe.directory(home)) ?? home)
        ? 'the home directory'
        : undefined;
  if (what === undefined) return;
  throw new MemoryError('no_project', `No project memory is kept in ${what}, ${path}.`, {
    hint: fix,
    data: { root: path },
  });
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      throw invalid(['path'], `a file is in the way of the folder ${path}`);
    }
    throw new MemoryError('cannot_create', `The folder ${path} cannot be created.`, { cause });
  }
}

const disk: RootProbe = {
  async directory(path) {
    try {
      return (await stat(path)).isDirectory() ? await realpath(path) : undefined;
    } catch {
      return undefined;
    }
  },
  async workTree(path) {
    return findWorkTree(new NodeFiles(), path)?.top;
  },
};
