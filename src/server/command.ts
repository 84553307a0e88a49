import type { App, AppOptions } from '../app.ts';

/** What a command is run with. */
export interface Invocation {
  readonly app: App;
  readonly options: AppOptions;
  /** The version of this program. */
  readonly version: string;
  /** As many as the command declares. */
  readonly operands: readonly string[];
  /** Those of the command's switches that were given. */
  readonly switches: readonly string[];
}

/** One command of the program. */
export interface Command {
  /** One line for the usage text. */
  readonly about: string;
  /** The names of what has to follow the command's name, beside flags; default: nothing. */
  readonly operands?: readonly string[];
  /** The names of flags without a value that only this command takes. */
  readonly switches?: readonly string[];
  /** Does the work and returns the exit status. */
  run(invocation: Invocation): Promise<number>;
}
