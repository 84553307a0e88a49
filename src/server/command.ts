import type { App, AppOptions } from '../app.ts';

/** What a command is run with. */
export interface Invocation {
  readonly app: App;
  readonly options: AppOptions;
  /** The version of this program. */
  readonly version: string;
}

/** One command of the program. */
export interface Command {
  /** One line for the usage text. */
  readonly about: string;
  /** Does the work and returns the exit status. */
  run(invocation: Invocation): Promise<number>;
}
