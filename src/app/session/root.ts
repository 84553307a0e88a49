import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { findWorkTree } from '../../git/repository/discover.ts';
import { contains } from '../../git/repository/enclosure.ts';
import { windowsFolder } from '../../git/repository/system-config.ts';
import { pluginCaches, pluginVariables } from './plugin-folder.ts';

/** The input for the choice of the root. */
export interface RootInput {
  /** The value of `--root`. */
  readonly flag: string | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  /** The directory of the start. */
  readonly cwd: string;
  /** The user's home directory. */
  readonly home: string;
  /** The tool by which the caller can choose another folder; undefined for none. */
  readonly tool?: string | undefined;
  /** Default: the system of this process. */
  readonly platform?: NodeJS.Platform;
  /** Returns the URIs of the client's roots; called only if nothing of higher rank is set. */
  clientRoots(): Promise<readonly string[]>;
}

/** The access to the file system that the choice of the root needs. */
export interface RootProbe {
  /** Returns the real path of a directory; undefined if it does not exist. */
  directory(path: string): Promise<string | undefined>;
  /** Returns the top of the git work tree around a directory; undefined outside one. */
  workTree(path: string): Promise<string | undefined>;
}

/** The folder whose memory is served, and the source of the choice. */
export interface Root {
  /** Absolute real path of the folder that holds `.memory-bank/`. */
  readonly path: string;
  readonly source: '--root' | 'MEMORY_BANK_ROOT' | 'CLAUDE_PROJECT_DIR' | 'client' | 'cwd';
  /** The other projects that the client has open; absent where its roots do not decide. */
  readonly others?: readonly string[];
}

const byOption = 'or give its folder by --root or MEMORY_BANK_ROOT.';

/** Returns the way to a project; the caller of a tool can take it at once. */
function fixFor({ tool }: Pick<RootInput, 'tool'>): string {
  const start = `tart the server in a project, ${byOption}`;
  return tool === undefined ? `S${start}` : `Call ${tool} with the path of the project, s${start}`;
}

const windowsFix =
  'A client that starts the server by cmd.exe in a shared folder, such as \\\\server\\share, gets this directory instead. ';

const pluginFix = `An update of a plugin replaces its folder. Open a project in the client, ${byOption}`;

/**
 * Finds the project to serve.
 *
 * A current directory in the folder of the plugin that started the server is ignored: clients
 * start a plugin's server there, and an update of the plugin replaces the folder. A folder into
 * which a client unpacks plugins is used only if `--root` or `MEMORY_BANK_ROOT` names it.
 *
 * The order is: `--root`, `MEMORY_BANK_ROOT`, `CLAUDE_PROJECT_DIR`, the only root of the client, the
 * directory of the start. The first two are used as they are. From the others, the search goes up
 * in the git work tree to the nearest folder with a memory, else to the top of the work tree. Of several
 * projects that a client has open, the one of the directory of the start is served.
 *
 * @throws MemoryError `no_project` if the client has several other projects open, or if the choice is not a directory, or is `/`, the home directory, the folder of
 *   a plugin, or in the folder of Windows.
 */
export async function findRoot(input: RootInput, probe: RootProbe = disk): Promise<Root> {
  const { given, source, open = [] } = await choose(input);
  const opened = open.length > 1 ? await amongOpen(open, input, probe) : undefined;
  if (opened) {
    await refuseSystemFolder(opened.path, input, probe);
    return opened;
  }
  const named = source === 'cwd' ? `The current directory ${given}` : `${given} (${source})`;
  const folder = await probe.directory(given);
  if (folder === undefined) {
    throw new MemoryError('no_project', `${named} is not a directory.`, { hint: fixFor(input) });
  }
  const exact = isExact(source);
  if (source === 'cwd') await refusePluginFolder(input, probe);
  if (!exact) await refusePluginCache(folder, input, probe);
  const start = withoutMemoryFolder(folder);
  const path = exact ? start : await climb(start, probe);
  await refuseSystemFolder(path, input, probe);
  return { path, source };
}

/**
 * Says to an agent that a root may not be the project that is meant; undefined for a clear one.
 *
 * @param tool by which it chooses another folder.
 */
export function remarkOn({ path, source, others }: Root, tool: string): string | undefined {
  const files = new NodeFiles();
  if (others) {
    return `The memory of ${path} is served. The client also has ${others.join(', ')} open: if that is meant, call ${tool} with its path.`;
  }
  // Clients that are started in the wrong folder also name it themselves.
  if (isExact(source) || files.lstat(join(path, memoryFolderName))) return undefined;
  if (findWorkTree(files, path)) return undefined;
  return `${path} is served as the project, but had no memory and was not in a git repository: if the project is elsewhere, call ${tool} with its path.`;
}

/** Whether a person chose the root for this program, not for the client. */
function isExact(source: Root['source']): boolean {
  return source === '--root' || source === 'MEMORY_BANK_ROOT';
}

/** The folders that a caller may use. */
export interface Reach {
  /** The user's home directory, which is refused. */
  readonly home: string;
  /** The allowed folders, with everything below them; undefined for no limit. */
  readonly within: readonly string[] | undefined;
}

/**
 * Returns the root that a caller names; a path that ends in `.memory-bank` means the folder around it.
 *
 * @param create whether to create a missing folder.
 * @returns the real path.
 * @throws MemoryError `forbidden` outside the allowed folders, `no_project` for `/`, the home
 *   directory and the folder of Windows, `invalid_input` for a file, a missing folder, and a folder in `.git` or in
 *   a memory folder, `cannot_create`.
 */
export async function rootAt(path: string, reach: Reach, create: boolean): Promise<string> {
  if (path.includes('\0')) throw invalid(['path'], 'must not contain a NUL character');
  const root = await realTarget(withoutMemoryFolder(path));
  await refuseOutOfReach(root, reach);
  const inner = root.split(sep).find((part) => /^\.(git|memory-bank)$/i.test(part));
  if (inner !== undefined) throw invalid(['path'], `must not be inside a folder ${inner}`);
  await refuseSystemFolder(root, { ...reach, env: process.env }, disk);
  if (create) await makeFolder(root);
  const folder = await disk.directory(root);
  if (folder === undefined) throw invalid(['path'], `there is no folder ${root}`);
  return folder;
}

/** Whether one of two roots is the other one, or is in it. */
export function doOverlap(one: string, other: string): boolean {
  return contains(one, other) || contains(other, one);
}

/** Returns the memory folder of the user, which all projects share. */
export function homeFolder(env: RootInput['env'], cwd: string, home: string): string {
  return resolve(cwd, env.MEMORY_BANK_HOME || join(home, memoryFolderName));
}

/** Returns the directory of the start; under `npm start`, the one in which npm was called. */
export function startDirectory(env: RootInput['env'], cwd: string, packageFolder: string): string {
  // npm runs a script in its package. Programs that the script starts elsewhere also get its variables.
  const own = cwd === packageFolder && env.npm_package_json === join(packageFolder, 'package.json');
  return own && env.INIT_CWD ? env.INIT_CWD : cwd;
}

/**
 * Chooses one of several folders that a client has open.
 *
 * @returns undefined if none of them exists.
 * @throws MemoryError `no_project` that names them, if the directory of the start is in none of them.
 */
async function amongOpen(
  open: readonly string[],
  input: RootInput,
  probe: RootProbe,
): Promise<Root | undefined> {
  const projects = new Set<string>();
  for (const path of open) {
    const folder = await probe.directory(path);
    if (folder !== undefined) projects.add(await climb(withoutMemoryFolder(folder), probe));
  }
  const [only, ...more] = projects;
  if (only === undefined) return undefined;
  if (more.length === 0) return { path: only, source: 'client' };
  const cwd = await probe.directory(resolve(input.cwd));
  const own = cwd && (await climb(withoutMemoryFolder(cwd), probe));
  if (own !== undefined && projects.delete(own)) {
    return { path: own, source: 'cwd', others: [...projects] };
  }
  const { tool } = input;
  throw new MemoryError(
    'no_project',
    `The client has several projects open: ${[...projects].join(', ')}.`,
    {
      hint:
        tool === undefined
          ? `Start the server in one of them, ${byOption}`
          : `Call ${tool} with the path of the one that is meant, ${byOption}`,
    },
  );
}

/** The folder to begin with, its source, and the folders of a client that has several open. */
interface Choice {
  readonly given: string;
  readonly source: Root['source'];
  readonly open?: readonly string[];
}

async function choose(input: RootInput): Promise<Choice> {
  const settings = [
    ['--root', input.flag],
    ['MEMORY_BANK_ROOT', input.env.MEMORY_BANK_ROOT],
    ['CLAUDE_PROJECT_DIR', input.env.CLAUDE_PROJECT_DIR],
  ] as const;
  for (const [source, value] of settings) {
    if (isSet(value)) return { given: resolve(input.cwd, value), source };
  }
  const uris = await input.clientRoots();
  const open = uris.flatMap((uri) => toPath(uri, input.platform));
  const [only] = open;
  if (only !== undefined && open.length === 1) return { given: only, source: 'client' };
  return { given: resolve(input.cwd), source: 'cwd', open };
}

/** Whether a client has passed a variable such as `${workspaceFolder}` unresolved. */
function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '' && !/\$\{[^}]*\}/.test(value);
}

/** Returns the path of a `file:` URI; undefined for any other root, which has no files. */
function toPath(uri: string, platform = process.platform): string[] {
  try {
    return [fileURLToPath(uri, { windows: platform === 'win32' })];
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

/** Resolves the links of a path; its last segments need not exist. */
async function realTarget(path: string): Promise<string> {
  const real = realPath(path);
  if (real !== undefined || path === dirname(path)) return real ?? path;
  return join(await realTarget(dirname(path)), basename(path));
}

/** Returns a path without links; undefined for one that does not exist. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

async function refuseOutOfReach(path: string, { within }: Reach): Promise<void> {
  if (within === undefined) return;
  for (const folder of within) {
    if (contains(await realTarget(folder), path)) return;
  }
  throw new MemoryError('forbidden', `The folder ${path} is out of reach.`, {
    hint: 'Over HTTP it must be inside the served project, or inside a folder given to the server by --allow-folder.',
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

async function refuseSystemFolder(
  path: string,
  { home, env, tool, platform = process.platform }: Omit<RootInput, 'flag' | 'cwd' | 'clientRoots'>,
  probe: RootProbe,
): Promise<void> {
  // Clients start programs there, and cmd.exe does so if the current directory is a shared folder.
  const windows = platform === 'win32' ? await probe.directory(windowsFolder(env)) : undefined;
  const isOfWindows = windows !== undefined && contains(windows, path);
  const what =
    path === parse(path).root
      ? 'the root of the file system'
      : path === ((await probe.directory(home)) ?? home)
        ? 'the home directory'
        : isOfWindows
          ? 'the folder of Windows'
          : undefined;
  if (what === undefined) return;
  throw new MemoryError('no_project', `No project memory is kept in ${what}, ${path}.`, {
    hint: `${isOfWindows ? windowsFix : ''}${fixFor({ tool })}`,
    data: { root: path },
  });
}

async function makeFolder(path: string): Promise<void> {
  try {
    mkdirSync(path, { recursive: true });
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
      return statSync(path).isDirectory() ? realPath(path) : undefined;
    } catch {
      return undefined;
    }
  },
  async workTree(path) {
    return findWorkTree(new NodeFiles(), path)?.top;
  },
};
