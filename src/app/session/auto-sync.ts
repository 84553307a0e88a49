import { timestamp } from '../../core/declarations/context.ts';
import type { BoundWorkspace, Workspace } from '../../core/declarations/workspace.ts';
import {
  isWithin,
  noSyncState,
  readSyncState,
  type SyncState,
  writeSyncState,
} from '../../core/memory/sync-state.ts';
import { monotonicTime } from '../../core/timing/clock.ts';
import { type MemoryError, toMemoryError } from '../../core/values/error.ts';
import { now, ownSession } from './clock-and-ids.ts';
import { usualInterval } from './sync-interval.ts';

/** Durations of automatic exchanges, in milliseconds. */
export interface SyncPace {
  /** How long the first call of a session waits for the exchange. */
  readonly maxWaitMs: number;
  /** How long a brief waits for the exchange. */
  readonly maxBriefWaitMs: number;
  /** The pause between exchanges without changes; 0 for no such exchanges. */
  readonly interval: number;
  /** A session begins without an exchange if one succeeded less than this time ago. */
  readonly recent: number;
  /** How long changes are gathered: after the last one, and after the first one. */
  readonly gather: readonly [afterLast: number, afterFirst: number];
  /** The first and the longest pause after a failed exchange. */
  readonly pauses: readonly [first: number, longest: number];
  /** How long the end of the process waits for changes that are not pushed. */
  readonly closing: number;
}

/** The time of automatic exchanges; a simulation has its own. */
export interface SyncClock {
  now(): Date;
  /** Does work after a delay in milliseconds; returns a function that cancels it. */
  after(delay: number, work: () => Promise<void>): () => void;
}

const real: SyncClock = {
  now,
  after(delay, work) {
    const timer = setTimeout(() => void work(), delay).unref();
    return () => clearTimeout(timer);
  },
};

/** After an exchange with changes, the next two pauses are this fraction of the usual one; then they double. */
const busyShare = 12;

/** The durations of the program. */
export const usualPace: SyncPace = {
  maxWaitMs: 300,
  maxBriefWaitMs: 1_000,
  interval: usualInterval,
  recent: 30_000,
  gather: [2_000, 10_000],
  pauses: [15_000, 600_000],
  closing: 3_000,
};

/**
 * Exchanges the memory of one workspace with the remote, where its configuration asks for it: before the
 * first call of a session, after changes, before a brief, and at intervals while the program runs.
 *
 * It is the same as `sync`: it never forces anything, and a failed exchange changes nothing.
 */
export class AutoSync {
  readonly #workspace: Workspace;
  readonly #log: (message: string) => void;
  readonly #pace: SyncPace;
  readonly #clock: SyncClock;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** When the running exchange began, by the monotonic clock. */
  #startedAt = 0;
  /** Cancels the next exchange; undefined if none is planned. */
  #cancel: (() => void) | undefined;
  /** When the first change that is not pushed was made; undefined for none. */
  #changedAt: number | undefined;
  /** When the last change was made, by the monotonic clock. */
  #lastChange = 0;
  /** The pause before the next exchange without changes: shorter while somebody changes the memory. */
  #pause = 0;
  /** The number of exchanges without changes since the last one with changes. */
  #idle = 0;
  #failures = 0;
  /** Why the last exchange of this clone failed, as far as it is known. */
  #problem: string | undefined;
  #logged: string | undefined;
  /** The sessions that know the problem. */
  readonly #told = new Set<string>();

  /** @param log gets each new problem. */
  constructor(
    workspace: Workspace,
    log: (message: string) => void,
    pace = usualPace,
    clock = real,
  ) {
    this.#workspace = workspace;
    this.#log = log;
    this.#pace = pace;
    this.#clock = clock;
  }

  /** Gets what others have pushed, for the first call of a session; the call waits only for a moment. */
  async begin(): Promise<void> {
    if (this.#failures > 0) return;
    const { at, problem } = await this.#known();
    this.#problem ??= problem;
    // Another process has logged it.
    this.#logged ??= problem;
    if (problem === undefined && isWithin(at, this.#clock.now(), this.#pace.recent)) {
      this.#poll();
      return;
    }
    await this.#exchangeFor(this.#pace.maxWaitMs);
  }

  /** Returns why a change that is made now would not be pushed, as far as this clone knows it. */
  async obstacle(): Promise<string | undefined> {
    if (this.#problem !== undefined) return this.#problem;
    const held = await this.#bind().history.unpublished();
    return held && problemOf(held);
  }

  /** Gets what others have pushed, for a brief, unless that was tried a moment ago. */
  async catchUp(): Promise<void> {
    if (this.#failures > 0 || this.#pace.interval === 0) return;
    const { tried } = await this.#known();
    if (!this.#running && isWithin(tried, this.#clock.now(), this.#pace.recent)) return;
    await this.#exchangeFor(this.#pace.maxBriefWaitMs);
  }

  /**
   * Returns why a change of a session is not pushed, once for each session.
   *
   * @param obstacle that was there before the change; the exchange that meets it comes after the answer.
   */
  takeProblem(session: string, obstacle: string | undefined): string | undefined {
    this.#problem ??= obstacle;
    if (this.#problem === undefined || this.#told.has(session)) return undefined;
    this.#told.add(session);
    return this.#problem;
  }

  /** Pushes a change soon, with others that follow it. */
  changed(): void {
    const time = this.#clock.now().getTime();
    this.#changedAt ??= time;
    this.#lastChange = monotonicTime();
    const [afterLast, afterFirst] = this.#pace.gather;
    if (this.#failures === 0) {
      this.#exchangeIn(Math.min(afterLast, this.#changedAt + afterFirst - time));
    }
  }

  /** Pushes what is left, for a limited time, and stops. */
  async close(): Promise<void> {
    this.#cancel?.();
    if (this.#changedAt !== undefined && this.#failures === 0) {
      const timer = setTimeout(() => this.#stop.abort(), this.#pace.closing);
      // An exchange that is under way may have begun before the last change.
      await this.#running;
      await this.#exchange();
      clearTimeout(timer);
    }
    this.#stop.abort();
    await this.#running;
    this.#cancel?.();
  }

  #exchangeIn(delay: number, work = () => this.#exchange()): void {
    this.#cancel?.();
    const forget = () => {
      if (this.#cancel === cancel) this.#cancel = undefined;
    };
    const stop = this.#clock.after(Math.max(0, delay), () => {
      forget();
      return work();
    });
    const cancel = () => {
      stop();
      forget();
    };
    this.#cancel = cancel;
  }

  /** Plans an exchange without changes, unless another one is planned. */
  #poll(): void {
    const { interval } = this.#pace;
    const pause = this.#pause || interval;
    if (interval > 0 && !this.#cancel) this.#exchangeIn(pause, () => this.#lookAround(pause));
  }

  /** Exchanges, unless another process of this clone has done it since the pause began. */
  async #lookAround(pause: number): Promise<void> {
    const time = this.#clock.now();
    const { tried } = await this.#known();
    if (this.#stop.signal.aborted) return;
    if (isWithin(tried, time, pause / 2)) this.#poll();
    else await this.#exchange();
  }

  /** Waits for an exchange until some time after its beginning. */
  async #exchangeFor(milliseconds: number): Promise<void> {
    const exchange = this.#exchange();
    const left = this.#startedAt + milliseconds - monotonicTime();
    if (left <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    const moment = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, left);
    });
    await Promise.race([exchange, moment]);
    clearTimeout(timer);
  }

  #exchange(): Promise<void> {
    if (!this.#running) {
      this.#startedAt = monotonicTime();
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
      });
    }
    return this.#running;
  }

  async #run(): Promise<void> {
    this.#cancel?.();
    const before = this.#changedAt;
    this.#changedAt = undefined;
    const bound = this.#bind();
    try {
      const request = { ours: [], theirs: [], confirm: false };
      const { received, sent, begun } = await bound.history.sync(request);
      this.#failures = 0;
      // The last attempt has pushed changes that were made during earlier ones.
      if (this.#changedAt !== undefined && this.#lastChange < begun) {
        this.#changedAt = undefined;
        this.#cancel?.();
      }
      this.#setPause(received.length + sent > 0);
      this.#report(undefined);
      await this.#keep(bound, { at: timestamp(this.#clock.now()), problem: undefined });
    } catch (thrown) {
      // A slow remote is not asked again by the next process at once.
      if (this.#stop.signal.aborted) return await this.#keep(bound, {});
      this.#changedAt ??= before;
      this.#failures += 1;
      const [first, longest] = this.#pace.pauses;
      this.#exchangeIn(Math.min(first * 2 ** (this.#failures - 1), longest));
      const problem = problemOf(toMemoryError(thrown));
      this.#report(problem);
      await this.#keep(bound, { problem });
    }
    if (this.#failures > 0) return;
    // A change that arrived meanwhile has set its timer, which this exchange may have cleared.
    if (this.#changedAt === undefined) this.#poll();
    else this.#exchangeIn(this.#pace.gather[0]);
  }

  /** A memory that changes now is likely to change again soon, so the pause is short, twice before it grows. */
  #setPause(isBusy: boolean): void {
    const { interval } = this.#pace;
    this.#idle = isBusy ? 0 : this.#idle + 1;
    if (isBusy) this.#pause = interval / busyShare;
    else if (this.#idle > 1) this.#pause = Math.min(2 * this.#pause, interval);
    this.#pause ||= interval;
  }

  /** Reports a new problem, or that there is none any more. */
  #report(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.#logged) this.#log(problem);
    if (problem !== this.#problem) this.#told.clear();
    this.#logged = problem;
    this.#problem = problem;
  }

  /** The outcome of the last exchange of this clone; the empty one if it cannot be read. */
  async #known(): Promise<SyncState> {
    return readSyncState(this.#bind().store.local).catch(() => noSyncState);
  }

  /** Keeps the outcome for people and other processes. */
  async #keep({ store }: BoundWorkspace, outcome: Partial<SyncState>): Promise<void> {
    try {
      const known = await readSyncState(store.local);
      const tried = timestamp(this.#clock.now());
      await writeSyncState(store.local, { ...known, tried, ...outcome });
    } catch (thrown) {
      // The exchange itself is over.
      this.#log(toMemoryError(thrown).text);
    }
  }

  #bind(): BoundWorkspace {
    return this.#workspace.bind({
      session: ownSession(),
      tool: 'sync_memory',
      signal: this.#stop.signal,
      onCommit: () => undefined,
      progress: () => undefined,
    });
  }
}

/** Why an exchange failed, for people who did not ask for it. */
function problemOf(error: MemoryError): string {
  if (error.code !== 'confirmation_required') return error.text;
  return `${error.message} Run "git push": the memory follows by itself.`;
}
