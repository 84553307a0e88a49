import { dirname, join, posix } from 'node:path';
import type { Mode, SkippedRule } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';
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

/** A rule file has at most this many bytes. */
const maxBytes = 256 * 1024;

/**
 * Two changes within this many milliseconds may leave the same times on a file: one that was read so
 * soon after a change is read again.
 */
const clockGrain = 2000;

/** A rule file that could not be used. */
export interface UnusedRule extends SkippedRule {
  /** The mode that the name of the file says; empty for a folder that is not read. */
  readonly mode: string;
}

/** Every mode of a project, and the rule files that could not be used. */
export interface Rules {
  /** By name: the built-in ones, then the project's own in the order of their names. */
  readonly modes: ReadonlyMap<string, Mode>;
  readonly skipped: readonly UnusedRule[];
}

/**
 * The modes of one project.
 *
 * The files `.clinerules-<mode>` in the root of the project override the built-in ones, and the files
 * in `.memory-bank/rules/` override both. A file that cannot be used hides none below it.
 */
export class ModeLibrary {
  readonly #places: readonly RuleFolder[];

  /**
   * @param root absolute path of the project's root.
   * @param folder absolute path of its memory folder.
   */
  constructor(files: Files, root: string, folder: string) {
    const withExtension = /^(.*\.(?:json|ya?ml|toml))$/s;
    this.#places = [
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
   * The modes as the files describe them now; only files that changed are read again.
   *
   * @param planned files to take for written: what they would hold, by the source of each.
   */
  load(planned: ReadonlyMap<string, string> = new Map()): Rules {
    const found = new Map<string, Mode>();
    const skipped: UnusedRule[] = [];
    for (const outcome of this.#places.flatMap((place) => place.load(planned))) {
      if ('reason' in outcome) skipped.push(outcome);
      else found.set(outcome.name, outcome);
    }
    const own = [...found.keys()].filter((name) => !builtIn.includes(name)).sort();
    const modes = [...builtIn, ...own].flatMap((name) => found.get(name) ?? []);
    return { modes: new Map(modes.map((mode) => [mode.name, mode])), skipped };
  }
}

/** The folder of the built-in rule files: `rules` next to package.json. */
function builtInFolder(files: Files): string {
  let folder = import.meta.dirname;
  while (!files.lstat(join(folder, 'package.json')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return join(folder, 'rules');
}

type ParsedRule = Mode | UnusedRule;

/** The content of a file in the state `stat`. */
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
   * @param source the place of a file, as messages name it.
   * @param list its entries; it throws a MemoryError for a folder that is not read.
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

  /** The modes of its files, each once, and the reasons why other files were skipped. */
  load(planned: ReadonlyMap<string, string>): ParsedRule[] {
    const known = new Map<string, CachedRule>();
    const modes = new Map<string, Mode>();
    const skipped: UnusedRule[] = [];
    for (const name of this.#names(planned, skipped)) {
      const text = planned.get(this.#source(name));
      const entry = text === undefined ? this.#entry(name) : undefined;
      if (entry) known.set(name, entry);
      const outcome = text === undefined ? entry?.outcome : this.#parse(name, () => text);
      if (!outcome) continue;
      const first = 'name' in outcome && modes.get(outcome.name);
      if ('reason' in outcome) skipped.push(outcome);
      else if (first) skipped.push(this.#unused(name, `${first.source} comes first`));
      else modes.set(outcome.name, outcome);
    }
    this.#known = known;
    return [...modes.values(), ...skipped];
  }

  /** The names of its rule files; those of one mode in the order in which they count. */
  #names(planned: ReadonlyMap<string, string>, skipped: UnusedRule[]): string[] {
    const names = this.#entries(skipped).map((entry) => entry.name);
    const coming = [...planned.keys()].map((path) => posix.basename(path));
    return [...new Set([...names, ...coming.filter((name) => planned.has(this.#source(name)))])]
      .filter((name) => this.#pattern.test(name))
      .sort((a, b) => ruleRank(a) - ruleRank(b) || (a < b ? -1 : 1));
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

  /** A file as it is now; undefined when it is gone. */
  #entry(name: string): CachedRule | undefined {
    const stat = this.#files.lstat(join(this.#folder, name));
    if (!stat) return undefined;
    const known = this.#known.get(name);
    const settled = known && known.readAt - known.stat.ctimeMs > clockGrain;
    if (settled && sameStat(known.stat, stat)) return known;
    return { stat, readAt: Date.now(), outcome: this.#read(name, stat) };
  }

  #read(name: string, stat: Stat): ParsedRule {
    if (stat.kind !== 'file') return this.#unused(name, 'is not a plain file');
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

  /** The part of a file's name that says the mode, with the extension if there is one. */
  #ruleName(name: string): string {
    return this.#pattern.exec(name)?.[1] ?? '';
  }
}
