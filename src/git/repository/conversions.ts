import { join, relative, sep } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { type Files, lookThrough, type Stat, sameStat, unlessDenied } from '../disk/file-layer.ts';
import { checkSize } from '../disk/folder.ts';
import { type AttributeRule, type AttributeState, parseAttributes } from './attribute-file.ts';
import { type GitConfig, systemFile } from './config.ts';
import type { WorkTree } from './discover.ts';
import { userRules } from './ignore.ts';

/** Size limit of a file of attributes, in bytes; with a larger one nothing is committed. */
const maxBytes = 4 * 1024 * 1024;

/**
 * The rule that version 1.0.0 wrote for the memory. It is not a wish of the user, so it does not hide one:
 * it would keep git itself from encrypting the memory.
 */
export const formerRule = '* -text -filter -ident -working-tree-encoding';

/** The attributes with which git stores another text than that of the file. */
const converting = ['filter', 'working-tree-encoding', 'ident'] as const;

/** A file of attributes, and the folder to which its patterns refer. */
interface RuleFile {
  readonly name: string;
  /** Relative to the top, with `/` at its end; empty for the top. */
  readonly base: string;
  readonly rules: readonly AttributeRule[];
}

/** The state of an attribute of a path, and the rule that set it. */
interface Found {
  readonly state: AttributeState;
  readonly file: string;
  readonly line: string;
}

/** The conversions that a repository asks for when files are committed (gitattributes). */
export class Conversions {
  readonly #files: Files;
  readonly #tree: WorkTree;
  readonly #config: GitConfig;
  readonly #env: NodeJS.ProcessEnv;
  readonly #cache = new Map<string, { stat: Stat | undefined; rules: readonly AttributeRule[] }>();
  /** Files that were looked at during this call. */
  readonly #fresh = new Set<string>();

  constructor(files: Files, tree: WorkTree, config: GitConfig, env: NodeJS.ProcessEnv) {
    [this.#files, this.#tree, this.#config, this.#env] = [files, tree, config, env];
  }

  /**
   * Refuses paths that git would convert: this program runs no filter, so it would commit their text as it
   * is, such as in the clear instead of encrypted.
   *
   * @param paths relative to the top of the work tree, `/` between segments.
   * @param staged returns a file of the index, which git reads where the work tree does not have it.
   * @throws MemoryError `unsupported` that names the rule and its file.
   */
  check(paths: readonly string[], staged: (path: string) => Buffer | undefined): void {
    this.#fresh.clear();
    for (const path of paths) {
      const attributes = this.#attributesOf(path, staged);
      for (const name of converting) {
        const found = attributes.get(name);
        if (found && converts(name, found.state)) throw refusal(path, name, found);
      }
    }
  }

  #attributesOf(path: string, staged: (path: string) => Buffer | undefined): Map<string, Found> {
    const files = this.#filesFor(path, staged);
    const found = new Map<string, Found>();
    if (files.length === 0) return found;
    const macros = new Map<string, AttributeRule>([['binary', binary]]);
    // The nearest file comes first, and the last rule of a file counts.
    for (const { rules } of [...files].reverse()) {
      for (const rule of rules) if (rule.macro !== undefined) macros.set(rule.macro, rule);
    }
    const set = ({ states }: AttributeRule, from: Omit<Found, 'state'>): void => {
      for (const [name, state] of [...states].reverse()) {
        if (found.has(name)) continue;
        found.set(name, { ...from, state });
        const macro = state === true ? macros.get(name) : undefined;
        if (macro) set(macro, from);
      }
    };
    for (const { name, base, rules } of files) {
      const below = path.slice(base.length);
      for (const rule of [...rules].reverse()) {
        if (rule.matches(below)) set(rule, { file: name, line: rule.line });
      }
    }
    return found;
  }

  /** The files that can have rules for a path, the one that counts most first. */
  #filesFor(path: string, staged: (path: string) => Buffer | undefined): RuleFile[] {
    const { top, commonDir } = this.#tree;
    const found: RuleFile[] = [];
    const add = (file: string, base: string, rules: readonly AttributeRule[]) => {
      const name = file.startsWith(top + sep) ? relative(top, file).split(sep).join('/') : file;
      // Git defines macros only in files for the whole repository.
      const some = base === '' ? rules : rules.filter(({ macro }) => macro === undefined);
      if (some.length > 0) found.push({ name, base, rules: some });
    };
    const through = (file: string) => {
      add(
        file,
        '',
        this.#load(file, () => lookThrough(this.#files, file)),
      );
    };
    through(join(commonDir, 'info', 'attributes'));
    const parts = path.split('/');
    for (let depth = parts.length - 1; depth >= 0; depth--) {
      const base = parts
        .slice(0, depth)
        .map((part) => `${part}/`)
        .join('');
      const file = join(top, base, '.gitattributes');
      // Like git, which does not follow a link of the work tree here.
      const look = () => this.#files.lstat(file);
      add(
        file,
        base,
        this.#load(file, look, () => staged(`${base}.gitattributes`)),
      );
    }
    const own = userRules(this.#config, this.#env, top, ['core.attributesfile', 'attributes']);
    unlessDenied(() => through(own));
    if (!this.#env.GIT_ATTR_NOSYSTEM) {
      through(systemFile(this.#files, this.#env, 'gitattributes'));
    }
    return found;
  }

  #load(
    file: string,
    look: () => Stat | undefined,
    otherwise?: () => Buffer | undefined,
  ): readonly AttributeRule[] {
    const known = this.#cache.get(file);
    if (known && this.#fresh.has(file)) return known.rules;
    this.#fresh.add(file);
    const stat = look();
    if (known?.stat && sameStat(known.stat, stat)) return known.rules;
    if (stat?.kind === 'file') checkSize(file, stat.size, maxBytes);
    const bytes = stat?.kind === 'file' ? this.#files.read(file, maxBytes) : otherwise?.();
    const foldsCase = this.#config.bool('core.ignorecase') ?? false;
    const rules = parseAttributes(bytes?.toString('utf8') ?? '', foldsCase).filter(
      ({ line }) => line !== formerRule,
    );
    this.#cache.set(file, { stat, rules });
    return rules;
  }
}

/** The macro that git itself defines. */
const binary: AttributeRule = {
  line: '[attr]binary -diff -merge -text',
  macro: 'binary',
  states: [
    ['diff', false],
    ['merge', false],
    ['text', false],
  ],
  matches: () => false,
};

/** Whether an attribute in this state makes git store another text. */
function converts(name: (typeof converting)[number], state: AttributeState): boolean {
  if (name === 'ident') return state === true;
  if (typeof state !== 'string' || state === '') return false;
  return name === 'filter' || !/^utf-?8$/i.test(state);
}

function refusal(path: string, name: string, { state, file, line }: Found): MemoryError {
  const asked = state === true ? name : `${name}=${String(state)}`;
  const folder = path.slice(0, path.lastIndexOf('/') + 1).replace(/^(.*?\.memory-bank\/).*$/, '$1');
  return new MemoryError(
    'unsupported',
    `Git is to convert ${path} (${asked}) by the rule "${line}" in ${file}, which this program cannot do: the text would be committed as it is.`,
    {
      hint: `Nothing was written. Keep the memory in a repository without that rule, or, if it may be committed as it is, add the line "/${folder}** -${name}" below that rule.`,
      data: { path, file, attribute: asked },
    },
  );
}
