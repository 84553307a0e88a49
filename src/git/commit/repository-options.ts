/** How a repository is used. */
export interface RepositoryOptions {
  /** Environment with git's variables and HOME. */
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => Date;
  /** How long to wait for a lock of another process, in milliseconds. */
  readonly lockTimeout: number;
  /**
   * How long to wait after another program has staged something, in milliseconds; 0 for no wait. A plain
   * `git commit` with an editor or hooks holds no lock meanwhile, and fails if HEAD moves.
   */
  readonly calm: number;
  warn(message: string): void;
  /** Whether the memory is still in this repository; asked before each commit, under the process lock. */
  readonly isCurrent?: (() => boolean) | undefined;
  /** Throws if this program must not change the memory; called before each commit, under the process lock. */
  readonly checkCommit?: (() => void) | undefined;
  /** Whether commits are signed off, also without `format.signOff`. */
  readonly signsOff?: (() => boolean) | undefined;
}
