import { homedir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { MemoryError } from '../../core/values/error.ts';
import { type Files, lookThrough, type Stat, sameStat, unlessDenied } from '../disk/file-layer.ts';
import { checkSize } from '../disk/folder.ts';
import type { GitConfig } from './config.ts';
import type { WorkTree } from './discover.ts';

/** Size limit of a file of rules, in bytes; with a larger one nothing is committed. */
export const maxBytes = 4 * 1024 * 1024;

interface RuleFile {
  readonly stat: Stat | undefined;
  readonly rules: Ignore | undefined;
}

/** The ignore rules that can apply to a path of the work tree (gitignore). */
export class IgnoreRules {
  readonly #files: Files;
  readonly #tree: WorkTree;
  readonly #config: GitConfig;
  readonly #env: NodeJS.ProcessEnv;
  readonly #cache = new Map<string, RuleFile>();
  /** Rule files that were checked during this call. */
  readonly #fresh = new Set<string>();

  constructor(files: Files, tree: WorkTree, config: GitConfig, env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.#files = files;
    this.#tree = tree;
    this.#config = config;
  }

  /**
   * Refuses paths that git would ignore.
   *
   * @param paths relative to the top of the work tree, `/` between segments.
   * @throws MemoryError `ignored` that names the rule, its file, and both ways out.
   */
  check(paths: readonly string[]): void {
    this.#fresh.clear();
    const passed = new Set<string>();
    for (const path of paths) {
      const parts = path.split('/');
      for (let depth = 1; depth <= parts.length; depth++) {
        // A rule may match a parent folder; nothing below an ignored folder can be included again.
        const part = parts.slice(0, depth).join('/') + (depth < parts.length ? '/' : '');
        const hit = passed.has(part) ? undefined : this.#find(part);
        if (hit) throw refusal(path, hit.file, hit.pattern);
        passed.add(part);
      }
    }
  }

  /** The last rule that matches a path, from the nearest file outwards. */
  #find(path: string): { readonly file: string; readonly pattern: string } | undefined {
    const parts = path.replace(/\/$/, '').split('/');
    for (let depth = parts.length - 1; depth >= 0; depth--) {
      const base = parts.slice(0, depth).join('/');
      const file = join(this.#tree.top, base, '.gitignore');
      const below = path.slice(base === '' ? 0 : base.length + 1);
      // Like git, which does not follow a link of the work tree here.
      const verdict = this.#ask(file, below, () => this.#files.lstat(file));
      if (verdict === false) return undefined;
      if (verdict)
        return { file: relative(this.#tree.top, file).split(sep).join('/'), pattern: verdict };
    }
    const own = userRules(this.#config, this.#env, this.#tree.top, ['core.excludesfile', 'ignore']);
    for (const file of [join(this.#tree.commonDir, 'info', 'exclude'), own]) {
      const ask = () => this.#ask(file, path, () => lookThrough(this.#files, file));
      const verdict = file === own ? unlessDenied(ask) : ask();
      if (verdict === false) return undefined;
      if (verdict) return { file, pattern: verdict };
    }
    return undefined;
  }

  /** The pattern that ignores the path, false if one includes it again, undefined if none matches. */
  #ask(file: string, path: string, look: () => Stat | undefined): string | false | undefined {
    const rules = this.#load(file, look);
    if (!rules) return undefined;
    const result = rules.checkIgnore(path);
    if (result.unignored) return false;
    return result.ignored ? (result.rule?.pattern ?? path) : undefined;
  }

  #load(file: string, look: () => Stat | undefined): Ignore | undefined {
    const known = this.#cache.get(file);
    if (known && this.#fresh.has(file)) return known.rules;
    this.#fresh.add(file);
    const stat = look();
    if (known && sameStat(known.stat, stat)) return known.rules;
    if (stat?.kind === 'file') checkSize(file, stat.size, maxBytes);
    const bytes = stat?.kind === 'file' ? this.#files.read(file, maxBytes) : undefined;
    const text = bytes?.toString('utf8').replace(/^\uFEFF/, '') ?? '';
    // Many of these files contain only comments.
    const rules = /^[^#\r\n]/m.test(text)
      ? ignore({ ignorecase: this.#config.bool('core.ignorecase') ?? false }).add(text)
      : undefined;
    this.#cache.set(file, { stat, rules });
    return rules;
  }
}

/** The user's own file of rules for all repositories: the one that a setting names, or the default one. */
export function userRules(
  config: GitConfig,
  env: NodeJS.ProcessEnv,
  top: string,
  [setting, name]: readonly [setting: string, name: string],
): string {
  const home = env.HOME || homedir();
  const set = config.get(setting);
  if (set?.startsWith('~/')) return join(home, set.slice(2));
  if (set !== undefined) return resolve(top, set);
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'git', name);
}

function refusal(path: string, file: string, pattern: string): MemoryError {
  return new MemoryError('ignored', `Git ignores ${path}: rule "${pattern}" in ${file}.`, {
    hint: 'Memory has to be committed. Remove that rule, or start the server with another --root.',
    data: { path, file, pattern },
  });
}
