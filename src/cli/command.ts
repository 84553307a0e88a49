import type { App, AppOptions } from '../app/app.ts';
import { MemoryError } from '../core/error.ts';

/** An option of a command line: `--name`, or `--name <value>`. */
export interface Flag {
  /** What stands for the value in the usage text; undefined for an option without one. */
  readonly value?: string;
  /** What it does, in a few words. */
  readonly about: string;
  /** The values that it takes, where they are few. */
  readonly choices?: readonly string[];
  /** Whether it may be given more than once. */
  readonly many?: boolean;
  /** The value without it, in words. */
  readonly default?: string;
  /** Whether the command needs it. */
  readonly required?: boolean;
}

/** The help text of an option. */
export function flagMeaning({ about, required, default: usual }: Flag): string {
  const notes = [about, required ? 'required' : '', usual === undefined ? '' : `default: ${usual}`];
  return notes.filter((note) => note !== '').join('; ');
}

/** Options by name. */
export type Flags = { readonly [name: string]: Flag };

/** What the command line said, by the names of the options. */
export type FlagValues = {
  readonly [name: string]: string | boolean | readonly string[] | undefined;
};

/** The value of an option; undefined when it is not given. */
export function flagText(values: FlagValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** The values of an option that may be given more than once. */
export function flagTexts(values: FlagValues, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? value : [];
}

/**
 * The number that an option gives.
 *
 * @throws MemoryError `invalid_input` for anything but a whole number within the bounds.
 */
export function flagNumber(
  values: FlagValues,
  name: string,
  absent: number,
  least: number,
  most: number,
): number {
  const text = flagText(values, name);
  if (text === undefined) return absent;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new MemoryError('invalid_input', `--${name} must be a number from ${least} to ${most}.`);
}

/** What a command is run with. */
export interface Invocation {
  readonly app: App;
  readonly options: AppOptions;
  /** The version of this program. */
  readonly version: string;
  readonly values: FlagValues;
  /** What follows the name of the command, beside options. */
  readonly operands: readonly string[];
}

/** One command of the program. */
export interface Command {
  /** One line for the usage text. */
  readonly about: string;
  /** The options that it has beside those of every command. */
  readonly flags?: Flags;
  /**
   * What has to follow its name, beside options: `path`; `path?` may be left out, `path...` may be
   * repeated or left out. Default: nothing.
   */
  readonly operands?: readonly string[];
  /** Whether it is for programs only: it is in no list for people. */
  readonly hidden?: boolean;
  /** Does the work and returns the exit status. */
  run(invocation: Invocation): Promise<number>;
}

/** The commands of the program by name; the one without a name is what an MCP client starts. */
export type Commands = ReadonlyMap<string, Command>;
