import { setTimeout as sleep } from 'node:timers/promises';
import { cancelled } from '../index/index-mark.ts';
import type { KnownIndex } from '../index/known-index.ts';
import type { Oid } from '../objects/object.ts';
import type { Head } from '../refs/refs.ts';
import type { GitProcess } from '../repository/git-processes.ts';

const firstPause = 2;
/** Time between two polls of a wait, in milliseconds. */
export const longestPause = 10;
/** Time before the first report of a wait, and then between two of them, in milliseconds. */
const [firstReport, reportPause] = [250, 1000];
/** How long a look at the processes counts for work that can be thrown away, in milliseconds. */
const moment = 2;
/** The same for the last look under the lock of the index, which must be held for a short time only. */
const instant = 0.5;

/** The caller of a mutation. */
export interface MutationCaller {
  /** Cancels the mutation. */
  readonly signal?: AbortSignal | undefined;
  /** Receives what the mutation waits for, about once a second. */
  onWait?(text: string): void;
  /** Receives a sentence that belongs next to the answer. */
  note?(text: string): void;
}

/** HEAD and the index at one look at the files. */
export interface Seen {
  readonly head: Head;
  readonly known: KnownIndex;
}

/** The polls of a `CommitWatch` for the waits of one mutation. */
export interface WatchedCommits {
  /** Whether git runs this process as a hook: waiting for git would be for ever. */
  readonly isInside: boolean;
  /** The git process that is committing. */
  running(): GitProcess | undefined;
  /**
   * Looks at the files, and how long the evidence of a commit in them still counts; see `CommitWatch`.
   *
   * @param from HEAD when the wait began: `now` at its first look.
   */
  look(from: Oid | 'now' | undefined): Seen & { readonly remaining: number };
  /** Refuses to wait for a change that cannot be made. */
  check(): void;
  /**
   * Notes that a commit is not waited for any more.
   *
   * @param git its process; undefined for the one whose evidence is in files.
   */
  outlast(git?: GitProcess): void;
}

/** Waits for commits of other programs, with limits for all waits of a mutation. */
export class CommitWaits {
  readonly #commits: WatchedCommits;
  readonly #caller: MutationCaller;
  /** Remaining time for waits by evidence in files, and for git processes, in milliseconds. */
  #left: number;
  #leftForGit: number;
  #waited = 0;
  /** Whether a git process has ended since the evidence in files was looked at. */
  #hasSeenGit = false;
  /** When a look at the processes last found none that is committing. */
  #freeAt = Number.NEGATIVE_INFINITY;
  #nextReport = firstReport;
  #pause = firstPause;

  constructor(
    commits: WatchedCommits,
    limits: { readonly files: number; readonly git: number },
    caller: MutationCaller,
  ) {
    this.#commits = commits;
    this.#caller = caller;
    [this.#left, this.#leftForGit] = commits.isInside ? [0, 0] : [limits.files, limits.git];
  }

  /** Whether git runs this process as a hook, and holds its locks until the process has ended. */
  get isInside(): boolean {
    return this.#commits.isInside;
  }

  /** Whether a git process is committing and there is time left to wait for it. */
  get isGitRunning(): boolean {
    return this.#running() !== undefined;
  }

  /** Like `isGitRunning`, before work that can be thrown away: a look of the last moment counts. */
  get hasGitBegun(): boolean {
    return performance.now() - this.#freeAt > moment && this.isGitRunning;
  }

  /**
   * Whether a git process is committing that fails if HEAD moves. It may have read the index, and would write
   * it over a newer one. Git needs longer than an `instant` from its start to that: a look of the last one counts.
   */
  get isGitCommitting(): boolean {
    if (performance.now() - this.#freeAt < instant) return false;
    return this.#running()?.movesHead ?? false;
  }

  /** Whether a commit is under way and there is time left to wait for it; and the files, if they were looked at. */
  look(): { readonly isDue: boolean; readonly seen?: Seen } {
    if (this.isGitRunning) return { isDue: true };
    if (this.#left <= 0) return { isDue: false };
    const seen = this.#commits.look(undefined);
    return { isDue: seen.remaining > 0, seen };
  }

  /**
   * Waits until no git process is committing or the limit is reached. The caller does not hold the process
   * lock, for which others wait for a shorter time.
   *
   * @throws MemoryError `cancelled`.
   */
  async waitForGit(): Promise<void> {
    for (let git = this.#running(); git; git = this.#running()) {
      this.#leftForGit -= await this.#sleep(this.#leftForGit);
      this.#hasSeenGit = true;
      this.#report(git);
      if (this.#leftForGit <= 0) this.#giveUp(git);
    }
  }

  /**
   * Waits until there is no evidence of a commit or the limit is reached. That is short, so it is not reported,
   * and the calls of the session stay in their order.
   *
   * @returns the files at its last look; undefined if the limit is reached.
   * @throws MemoryError `cancelled`, or that of a change that cannot be made.
   */
  async wait(): Promise<Seen | undefined> {
    if (this.#left <= 0) return undefined;
    if (this.#hasSeenGit) this.#endEvidence();
    let seen = this.#commits.look('now');
    const from = seen.head.oid;
    while (seen.remaining > 0 && !this.isGitRunning) {
      this.#commits.check();
      this.#left -= await this.#sleep(this.#left);
      if (this.#left <= 0) {
        this.#commits.outlast();
        return undefined;
      }
      seen = this.#commits.look(from);
    }
    return seen;
  }

  #running(): GitProcess | undefined {
    const git = this.#leftForGit > 0 ? this.#commits.running() : undefined;
    if (!git) this.#freeAt = performance.now();
    return git;
  }

  /** The evidence in files is that of the process that has ended. */
  #endEvidence(): void {
    this.#hasSeenGit = false;
    this.#commits.look(undefined);
    this.#commits.outlast();
  }

  /** Pauses; returns for how long, in milliseconds. */
  async #sleep(limit: number): Promise<number> {
    const { signal } = this.#caller;
    const begin = performance.now();
    const time = Math.min(this.#pause, limit);
    await sleep(time, undefined, signal ? { signal } : {}).catch(() => {
      throw cancelled();
    });
    this.#pause = Math.min(this.#pause * 2, longestPause);
    const waited = Math.max(performance.now() - begin, time);
    this.#waited += waited;
    return waited;
  }

  #report(git: GitProcess): void {
    if (this.#waited < this.#nextReport) return;
    this.#nextReport = this.#waited + reportPause;
    const what = `"${git.name}" (process ${git.pid})`;
    const seconds = Math.floor(this.#waited / 1000);
    this.#caller.onWait?.(`Waiting for ${what}${seconds > 0 ? `, for ${seconds} s so far` : ''}`);
  }

  #giveUp(git: GitProcess): void {
    this.#commits.outlast(git);
    const seconds = Math.round(this.#waited / 1000);
    const text = `"${git.name}" (process ${git.pid}) still runs after ${seconds} s, so the change no longer waits for it.`;
    const advice = `If git then refuses that commit with "cannot lock ref 'HEAD'", commit again: its staged files and its message are kept.`;
    this.#caller.note?.(`${text} ${advice}`);
  }
}
