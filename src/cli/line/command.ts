import type { App, AppOptions } from '../../app/app.ts';
import type { SessionClient } from '../../app/session/session-workspace.ts';
import { MemoryError } from '../../core/values/error.ts';

/** An option of a command line: `--name`, or `--name <value>`. */
export interface Flag {
  /** Name of the value in the help; undefined for an option without a value. */
  readonly value?: string;
  /** One letter that stands for it: `h` for `-h`. */
  readonly short?: string;
  /** Its meaning in a few words. */
  readonly about: string;
  /** The accepted values, where there are only a few. */
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

/** Values of the options of a command line, by name. */
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
 * The value of an option that takes a number.
 *
 * @throws MemoryError `invalid_input` for a value that is not a whole number within the bounds.
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

/** Input of one run of a command. */
export interface Invocation {
  readonly app: App;
  readonly options: AppOptions;
  /** The version of this program, with its build. */
  readonly version: string;
  /** The input of a hook, if it was read already. */
  readonly input?: string | undefined;
  /** The client of the session; a person by default. */
  readonly client?: SessionClient;
  readonly values: FlagValues;
  /** Arguments after the name of the command that are not options. */
  readonly operands: readonly string[];
}

/** One command of the program. */
export interface Command {
  /** One line for the usage text. */
  readonly about: string;
  /** Its own options, next to those of every command. */
  readonly flags?: Flags;
  /**
   * Names of the arguments after its name that are not options. Default: none.
   *
   * `path` is required, `path?` may be left out, `path...` may be repeated or left out.
   */
  readonly operands?: readonly string[];
  /** The toolset whose tool it calls; the help lists it there by its name alone. */
  readonly toolset?: string;
  /** Whether only programs call it: help and completion leave it out. */
  readonly hidden?: boolean;
  /** Does the work and returns the exit status. */
  run(invocation: Invocation): Promise<number>;
}

/** Commands by name; the empty name is the server that an MCP client starts. */
export type Commands = ReadonlyMap<string, Command>;
