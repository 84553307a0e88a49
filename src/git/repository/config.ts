import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { errno, type Files, lookThrough, type Stat, sameStat } from '../disk/file-layer.ts';
import { expandHome, isBelow, matches, withDepth } from './config-condition.ts';
import { commandSettings } from './config-env.ts';
import { isTrue, parseConfig, type Setting } from './config-text.ts';
import { systemFolder } from './system-config.ts';

export const maxIncludeDepth = 10;
/** File limit: files that include each other more than once would multiply. */
export const maxFiles = 200;
/** Size limit of a configuration file, in bytes. */
export const maxConfigSize = 4 * 1024 * 1024;

/** The sources of a repository's configuration, lowest precedence first. */
export interface ConfigPlaces {
  /** Per-worktree git directory, for `includeIf "gitdir:…"`. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** Short name of the branch, for `includeIf "onbranch:…"`. */
  readonly branch: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The user's git configuration: system, global, repository and worktree files with their includes, and
 * the settings of the environment.
 *
 * Values that name programs are read, never run.
 */
export class GitConfig {
  readonly #values = new Map<string, string>();
  /** Every file that was looked for, with its stat at that time. */
  readonly #sources: { readonly path: string; readonly stat: Stat | undefined }[] = [];
  readonly #repository = new Map<string, string>();
  readonly #own = new Map<string, string[]>();
  /** The environment, which also gives identities to git (git-commit). */
  readonly env: NodeJS.ProcessEnv;
  /** Why git refuses the settings of the environment; undefined if it does not. */
  readonly problem: string | undefined;
  readonly #command: readonly Setting[];
  /** Addresses of the remotes, for `includeIf "hasconfig:…"`. */
  #remotes: readonly string[] = [];
  #asksForRemotes = false;
  /** For `includeIf "onbranch:…"`. */
  #asksForBranch = false;

  private constructor(env: NodeJS.ProcessEnv) {
    const { settings, problem } = commandSettings(env);
    this.env = env;
    this.#command = settings;
    this.problem = problem;
  }

  static read(files: Files, places: ConfigPlaces): GitConfig {
    const config = new GitConfig(places.env);
    config.#readAll(files, places);
    if (!config.#asksForRemotes) return config;
    // The remotes are known only after everything is read, so this needs another pass.
    const again = new GitConfig(places.env);
    again.#remotes = [...config.section('remote')].flatMap(([key, url]) =>
      key.endsWith('.url') ? url : [],
    );
    again.#readAll(files, places);
    return again;
  }

  /** Reads the user's own configuration, without that of a repository. */
  static ofUser(files: Files, env: NodeJS.ProcessEnv): GitConfig {
    const config = new GitConfig(env);
    config.#readUser(files, { gitDir: '', commonDir: '', branch: undefined, env });
    return config;
  }

  /** Whether a value may differ on another branch. */
  get asksForBranch(): boolean {
    return this.#asksForBranch;
  }

  /** Whether no file has changed since it was read. */
  isCurrent(files: Files): boolean {
    return this.#sources.every(({ path, stat }) => sameStat(stat, lookQuietly(files, path)));
  }

  /** The last value of `section.name` or `section.subsection.name`; section and name in lower case. */
  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  bool(key: string): boolean | undefined {
    const value = this.get(key);
    return value === undefined ? undefined : isTrue(value);
  }

  /** The last value of the user's own configuration, whatever the repository says. */
  own(key: string): string | undefined {
    return this.ownAll(key).at(-1);
  }

  /** All values of the user's own configuration, lowest precedence first. */
  ownAll(key: string): readonly string[] {
    return this.#own.get(key) ?? [];
  }

  /** The settings with this prefix, by the rest of their key. */
  section(section: string): ReadonlyMap<string, string> {
    return below(this.#values, section);
  }

  /** Like `section`, but only of the repository's own settings. */
  repositorySection(section: string): ReadonlyMap<string, string> {
    return below(this.#repository, section);
  }

  /** Whether each work tree has settings of its own, which then may include `core.bare`. */
  get hasWorktreeSettings(): boolean {
    return isTrue(this.#repository.get('extensions.worktreeconfig') ?? '');
  }

  #readAll(files: Files, places: ConfigPlaces): void {
    for (const path of userFiles(files, places.env)) this.#load(files, path, places, 0, false);
    this.#load(files, join(places.commonDir, 'config'), places, 0, true);
    if (this.hasWorktreeSettings) {
      this.#load(files, join(places.gitDir, 'config.worktree'), places, 0, true);
    }
    this.#takeCommand(files, places);
  }

  #readUser(files: Files, places: ConfigPlaces): void {
    for (const path of userFiles(files, places.env)) this.#load(files, path, places, 0, false);
    this.#takeCommand(files, places);
  }

  #takeCommand(files: Files, places: ConfigPlaces): void {
    // A relative path of an include has no file that it could be relative to.
    this.#take(files, this.#command, '', places, 0, false);
  }

  #load(
    files: Files,
    path: string,
    places: ConfigPlaces,
    depth: number,
    repository: boolean,
  ): void {
    this.#sources.push({ path, stat: lookQuietly(files, path) });
    const bytes = readQuietly(files, path);
    if (bytes)
      this.#take(files, parseConfig(bytes.toString('utf8')), path, places, depth, repository);
  }

  /** @param path of the file with the settings; empty for those of the environment. */
  #take(
    files: Files,
    settings: readonly Setting[],
    path: string,
    places: ConfigPlaces,
    depth: number,
    repository: boolean,
  ): void {
    for (const { key, value } of settings) {
      this.#values.set(key, value);
      if (repository) this.#repository.set(key, value);
      else this.#own.set(key, [...this.ownAll(key), value]);
      const more = depth < maxIncludeDepth && this.#sources.length < maxFiles;
      if (!more || !this.#includes(key, path, places)) continue;
      const included = expand(value, path === '' ? '' : dirname(path));
      if (isAbsolute(included)) this.#load(files, included, places, depth + 1, repository);
    }
  }

  #includes(key: string, from: string, places: ConfigPlaces): boolean {
    if (key === 'include.path') return true;
    if (!key.startsWith('includeif.') || !key.endsWith('.path')) return false;
    const condition = key.slice('includeif.'.length, -'.path'.length);
    const colon = condition.indexOf(':');
    const pattern = condition.slice(colon + 1);
    switch (condition.slice(0, colon)) {
      case 'gitdir':
        return isBelow(pattern, from, places.gitDir);
      case 'gitdir/i':
        return isBelow(pattern, from, places.gitDir, 'i');
      case 'onbranch':
        this.#asksForBranch = true;
        return places.branch !== undefined && matches(withDepth(pattern), places.branch, '');
      case 'hasconfig': {
        const url = /^remote\.\*\.url:(.*)$/s.exec(pattern)?.[1];
        this.#asksForRemotes ||= url !== undefined;
        return url !== undefined && this.#remotes.some((remote) => matches(url, remote, ''));
      }
      default:
        return false;
    }
  }
}

function below(settings: ReadonlyMap<string, string>, section: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of settings) {
    if (key.startsWith(`${section}.`)) found.set(key.slice(section.length + 1), value);
  }
  return found;
}

function userFiles(files: Files, env: NodeJS.ProcessEnv): string[] {
  const home = env.HOME || homedir();
  const system = isTrue(env.GIT_CONFIG_NOSYSTEM ?? '')
    ? []
    : [env.GIT_CONFIG_SYSTEM ?? systemFile(files, env, 'gitconfig')];
  const global = env.GIT_CONFIG_GLOBAL;
  if (global !== undefined) return [...system, global];
  const xdg = env.XDG_CONFIG_HOME || join(home, '.config');
  return [...system, join(xdg, 'git', 'config'), join(home, '.gitconfig')];
}

/** The path of a system file of git. */
export function systemFile(files: Files, env: NodeJS.ProcessEnv, name: string): string {
  return join(
    systemFolder(env, (path) => lookQuietly(files, path)?.kind === 'file'),
    name,
  );
}

function expand(path: string, base: string): string {
  const full = expandHome(path);
  return isAbsolute(full) || base === '' ? full : join(base, full);
}

function lookQuietly(files: Files, path: string): Stat | undefined {
  try {
    // A user's configuration is often a link into a collection of such files.
    return lookThrough(files, path);
  } catch {
    return undefined;
  }
}

/** Error codes for which reading a file again would not help. */
const unreadable = new Set([
  ...['EACCES', 'EPERM', 'EISDIR', 'ELOOP', 'ENAMETOOLONG'],
  // A device or pipe (GIT_CONFIG_GLOBAL=/dev/null), or a file over the limit.
  ...['EFTYPE', 'EFBIG', 'ENXIO'],
]);

function readQuietly(files: Files, path: string): Buffer | undefined {
  try {
    return files.read(path, maxConfigSize);
  } catch (error) {
    // Git warns about a configuration file without read permission, and goes on. Any other error is
    // thrown: the file may contain the author's name.
    if (!unreadable.has(errno(error) ?? '')) throw error;
    return undefined;
  }
}
