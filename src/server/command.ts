import type { App, AppOptions } from '../app.ts';

/** An option of a command line: `--name`, or `--name <value>`. */
export interface Flag {
  /** What stands for the value in the usage text; undefined for an option without one. */
  readonly value?: string;
  /** What it does, in a few words. */
  readonly about: string;
}

/** What the command line said, by the names of the options. */
export type FlagValues = { readonly [name: string]: string | boolean | undefined };

/** The value of an option; undefined when it is not given. */
export function flagText(values: FlagValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** What a command is run with. */
export interface Invocation {
  readonly app: App;
  readonly options: AppOptions;
  /** The version of this program. */
  readonly version: string;
  readonly values: FlagValues;
}

/** One command of the program. */
export interface Command {
  /** One line for the usage text. */
  readonly about: string;
  /** The options that it has beside those of every command. */
  readonly flags?: { readonly [name: string]: Flag };
  /** Does the work and returns the exit status. */
  run(invocation: Invocation): Promise<number>;
}
