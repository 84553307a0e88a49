import type { Mode, SkippedRule } from '../core/context.ts';
import { toMemoryError } from '../core/error.ts';
import { maxRuleFile, parseRuleFile, ruleRank } from './rule-file.ts';
import { builtInRules, type RuleFolder } from './rule-folder.ts';

/** The modes that come with the program, in the order in which they are listed. */
const builtIn = ['architect', 'code', 'ask', 'debug', 'test'];

/** Every mode of a project, and the rule files that could not be used. */
export interface Rules {
  /** By name: the built-in ones, then the project's own in the order of their names. */
  readonly modes: ReadonlyMap<string, Mode>;
  readonly skipped: readonly SkippedRule[];
}

/**
 * The modes of one project.
 *
 * Over the built-in ones stand the files `.clinerules-<mode>` in the root of the project, and over
 * those the files in `.memory-bank/rules/`. A file that cannot be used hides none below it.
 */
export class ModeLibrary {
  readonly #places: readonly Place[];

  /**
   * @param root the root of the project.
   * @param bank the folder `rules` of its bank.
   */
  constructor(root: RuleFolder, bank: RuleFolder) {
    const withExtension = /^(.*\.(?:json|ya?ml|toml))$/s;
    this.#places = [
      new Place(builtInRules(), withExtension, () => 'built-in'),
      new Place(root, /^\.clinerules-(.*)$/s, (file) => file),
      new Place(bank, withExtension, (file) => `.memory-bank/rules/${file}`),
    ];
  }

  /** The modes as the files describe them now; only files that changed are read again. */
  async load(): Promise<Rules> {
    const found = new Map<string, Mode>();
    const skipped: SkippedRule[] = [];
    for (const outcome of (await Promise.all(this.#places.map((place) => place.load()))).flat()) {
      if ('reason' in outcome) skipped.push(outcome);
      else found.set(outcome.name, outcome);
    }
    const own = [...found.keys()].filter((name) => !builtIn.includes(name)).sort();
    const modes = [...builtIn, ...own].flatMap((name) => found.get(name) ?? []);
    return { modes: new Map(modes.map((mode) => [mode.name, mode])), skipped };
  }
}

type Outcome = Mode | SkippedRule;

/** A file as it was when it had this stamp. */
interface Entry {
  readonly stamp: string;
  readonly outcome: Outcome;
}

/** A folder that rule files come from. */
class Place {
  readonly #folder: RuleFolder;
  readonly #pattern: RegExp;
  readonly #source: (file: string) => string;
  #known: ReadonlyMap<string, Entry> = new Map();

  /**
   * @param pattern matches the names of rule files; its group is mode and extension.
   * @param source what people are told about where a file lies.
   */
  constructor(folder: RuleFolder, pattern: RegExp, source: (file: string) => string) {
    this.#folder = folder;
    this.#pattern = pattern;
    this.#source = source;
  }

  /** What its files say: each mode once, and why the others were skipped. */
  async load(): Promise<Outcome[]> {
    const known = new Map<string, Entry>();
    const modes = new Map<string, Mode>();
    const skipped: SkippedRule[] = [];
    for (const file of await this.#files()) {
      const entry = await this.#read(file);
      if (!entry) continue;
      known.set(file, entry);
      const { outcome } = entry;
      if ('reason' in outcome) {
        skipped.push(outcome);
        continue;
      }
      const first = modes.get(outcome.name);
      if (first) skipped.push({ source: outcome.source, reason: `${first.source} comes first` });
      else modes.set(outcome.name, outcome);
    }
    this.#known = known;
    return [...modes.values(), ...skipped];
  }

  /** The rule files of the folder; of one mode in the order in which they count. */
  async #files(): Promise<string[]> {
    const names = await this.#folder.names();
    return names
      .filter((name) => this.#pattern.test(name))
      .sort((a, b) => ruleRank(a) - ruleRank(b) || (a < b ? -1 : 1));
  }

  /** A file as it is now; undefined when it is gone. */
  async #read(file: string): Promise<Entry | undefined> {
    const source = this.#source(file);
    const stamp = await this.#folder.stamp(file);
    const known = this.#known.get(file);
    if (stamp === undefined) return undefined;
    if (known?.stamp === stamp) return known;
    try {
      const text = await this.#folder.read(file, maxRuleFile + 1);
      const name = this.#pattern.exec(file)?.[1] ?? '';
      return { stamp, outcome: parseRuleFile(text, name, source) };
    } catch (error) {
      return { stamp, outcome: { source, reason: toMemoryError(error).message } };
    }
  }
}
