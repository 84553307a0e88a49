import { dirname, join, posix } from 'node:path';
import type { Mode, SkippedRule } from '../../core/declarations/context.ts';
import { MemoryError } from '../../core/values/error.ts';
import {
  type DirectoryEntry,
  errno,
  type Files,
  type Stat,
  sameStat,
} from '../../git/disk/file-layer.ts';
import { Folder } from '../../git/disk/folder.ts';
import { modeOf, parseRuleFile, ruleRank } from './rule-file.ts';

/** The modes that come with the program, in the order in which they are listed. */
const builtIn = ['architect', 'code', 'ask', 'debug', 'test'];

/** Size limit of a rule file, in bytes. */
export const maxBytes = 256 * 1024;

/**
 * Time within which two changes of a file may get the same timestamp, in milliseconds.
 *
 * A file that was read this soon after a change is read again.
 */
const clockGrain = 2000;

/** A rule file that could not be used. */
interface UnusedRule extends SkippedRule {
  /** The mode in the name of the file; empty for a folder that cannot be read. */
  readonly mode: string;
}

/** Every mode of a project, and the rule files that could not be used. */
export interface Rules {
  /** By name: the built-in modes, then the project's own modes, sorted. */
  readonly modes: ReadonlyMap<string, Mode>;
  readonly skipped: readonly UnusedRule[];
}

/**
 * The modes of one project.
 *
 * The files `.clinerules-<mode>` in the root of the project override the built-in modes, and the files
 * in `.memory-bank/rules/` override both. A file that cannot be used overrides nothing.
 */
export class ModeLibrary {
  readonly #folders: readonly RuleFolder[];

  /**
   * @param root absolute path of the project's root.
   * @param folder absolute path of its memory folder.
   */
  constructor(files: Files, root: string, folder: string) {
    const withExtension = /^(.*\.(?:json|ya?ml|toml))$/s;
    this.#folders = [
      new RuleFolder(files, builtInFolder(files), withExtension, () => 'built-in'),
      new RuleFolder(files, root, /^\.clinerules-(.*)$/s, (name) => name),
      new RuleFolder(
        files,
        join(folder, 'rules'),
        withExtension,
        (name) => `.memory-bank/rules/${name}`,
        // The memory is not read through links.
        () => new Folder(files, folder).list('rules'),
      ),
    ];
  }

  /**
   * Returns the modes as of now; only files that changed are read again.
   *
   * @param planned files that count as written: their text by their source.
   */
  load(planned: ReadonlyMap<string, string> = new Map()): Rules {
    return rulesOf(this.#folders.flatMap((one) => one.load(planned)));
  }

  /** Returns the modes that a project with these rule files would have: texts by source. */
  loadFrom(files: ReadonlyMap<string, string>): Rules {
    const [own, ...others] = this.#folders;
    const outcomes = others.flatMap((one) => one.loadFrom(files));
    return rulesOf([...(own?.load(new Map()) ?? []), ...outcomes]);
  }
}

function rulesOf(outcomes: readonly ParsedRule[]): Rules {
  const found = new Map<string, Mode>();
  const skipped: UnusedRule[] = [];
  for (const outcome of outcomes) {
    if ('reason' in outcome) skipped.push(outcome);
    else found.set(outcome.name, outcome);
  }
  const own = [...found.keys()].filter((name) => !builtIn.includes(name)).sort();
  const modes = [...builtIn, ...own].flatMap((name) => found.get(name) ?? []);
  return { modes: new Map(modes.map((mode) => [mode.name, mode])), skipped };
}

/** The folder of the built-in rule files: the nearest `rules` above the program, that of its package. */
function builtInFolder(files: Files): string {
  let folder = import.meta.dirname;
  while (!files.lstat(join(folder, 'rules')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return join(folder, 'rules');
}

type ParsedRule = Mode | UnusedRule;

/** The result of reading a file with this stat. */
interface CachedRule {
  readonly stat: Stat;
  readonly readAt: number;
  readonly outcome: ParsedRule;
}

/** A folder that rule files come from. */
class RuleFolder {
  readonly #files: Files;
  readonly #folder: string;
  readonly #pattern: RegExp;
  readonly #source: (name: string) => string;
  readonly #list: () => readonly DirectoryEntry[] | undefined;
  #known: ReadonlyMap<string, CachedRule> = new Map();

  /**
   * @param pattern matches the names of rule files; its group is mode and extension.
   * @param source returns the path of a file for messages.
   * @param list lists the folder; throws a MemoryError if it must not be read.
   */
  constructor(
    files: Files,
    folder: string,
    pattern: RegExp,
    source: (name: string) => string,
    list = (): readonly DirectoryEntry[] | undefined => files.list(folder),
  ) {
    this.#list = list;
    this.#files = files;
    this.#folder = folder;
    this.#pattern = pattern;
    this.#source = source;
  }

  /** Reads each mode from its files once; the other files are skipped, with the reason. */
  load(planned: ReadonlyMap<string, string>): ParsedRule[] {
    const known = new Map<string, CachedRule>();
    const unlisted: UnusedRule[] = [];
    const names = [...this.#entries(unlisted).map(({ name }) => name), ...this.#own(planned)];
    const outcomes = this.#first(names, (name) => {
      const text = planned.get(this.#source(name));
      if (text !== undefined) return this.#parse(name, () => text);
      const entry = this.#entry(name);
      if (entry) known.set(name, entry);
      return entry?.outcome;
    });
    this.#known = known;
    return [...outcomes, ...unlisted];
  }

  /** Returns the modes of the files of this folder among others: texts by source. */
  loadFrom(files: ReadonlyMap<string, string>): ParsedRule[] {
    return this.#first(this.#own(files), (name) =>
      this.#parse(name, () => files.get(this.#source(name)) ?? ''),
    );
  }

  /** The files of this folder among others, by their names. */
  #own(files: ReadonlyMap<string, string>): string[] {
    const names = [...files.keys()].map((path) => posix.basename(path));
    return names.filter((name) => files.has(this.#source(name)));
  }

  /** Reads rule files; of those for the same mode, the first one counts. */
  #first(names: readonly string[], read: (name: string) => ParsedRule | undefined): ParsedRule[] {
    const modes = new Map<string, Mode>();
    const skipped: UnusedRule[] = [];
    const sorted = [...new Set(names)]
      .filter((name) => this.#pattern.test(name))
      .sort((a, b) => ruleRank(a) - ruleRank(b) || (a < b ? -1 : 1));
    for (const name of sorted) {
      const outcome = read(name);
      if (!outcome) continue;
      const first = 'name' in outcome && modes.get(outcome.name);
      if ('reason' in outcome) skipped.push(outcome);
      else if (first) skipped.push(this.#unused(name, `${first.source} takes precedence`));
      else modes.set(outcome.name, outcome);
    }
    return [...modes.values(), ...skipped];
  }

  #entries(skipped: UnusedRule[]): readonly DirectoryEntry[] {
    try {
      return this.#list() ?? [];
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      skipped.push({
        mode: '',
        source: this.#source('').replace(/\/$/, ''),
        reason: error.message,
      });
      return [];
    }
  }

  /** Reads a file unless it is unchanged; undefined if it does not exist. */
  #entry(name: string): CachedRule | undefined {
    const stat = this.#files.lstat(join(this.#folder, name));
    if (!stat) return undefined;
    const known = this.#known.get(name);
    const settled = known && known.readAt - known.stat.ctimeMs > clockGrain;
    if (settled && sameStat(known.stat, stat)) return known;
    return { stat, readAt: Date.now(), outcome: this.#read(name, stat) };
  }

  #read(name: string, stat: Stat): ParsedRule {
    if (stat.kind !== 'file') return this.#unused(name, 'is not a regular file');
    const path = join(this.#folder, name);
    const read = () => this.#files.read(path, maxBytes)?.toString() ?? '';
    return this.#parse(name, read, stat.size);
  }

  #parse(name: string, read: () => string, size = Buffer.byteLength(read())): ParsedRule {
    try {
      if (size > maxBytes) return this.#unused(name, `has more than ${maxBytes / 1024} KiB`);
      return parseRuleFile(read(), this.#ruleName(name), this.#source(name));
    } catch (error) {
      if (error instanceof MemoryError) return this.#unused(name, error.message);
      const code = errno(error);
      if (code === undefined) throw error;
      return this.#unused(name, `cannot be read (${code})`);
    }
  }

  #unused(name: string, reason: string): UnusedRule {
    return { mode: modeOf(this.#ruleName(name)), source: this.#source(name), reason };
  }

  /** The part of a file's name that is the mode, with the extension if there is one. */
  #ruleName(name: string): string {
    return this.#pattern.exec(name)?.[1] ?? '';
  }
}
