import { timestamp } from '../../core/declarations/context.ts';
import type { BoundWorkspace, Workspace } from '../../core/declarations/workspace.ts';
import { readSyncState, writeSyncState } from '../../core/memory/sync-state.ts';
import { toMemoryError } from '../../core/values/error.ts';
import { now, ownSession } from './clock-and-ids.ts';

/** Durations of automatic exchanges, in milliseconds. */
export interface SyncPace {
  /** How long the first call of a session waits for the exchange. */
  readonly maxWaitMs: number;
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

const usual: SyncPace = {
  maxWaitMs: 300,
  recent: 30_000,
  gather: [2_000, 10_000],
  pauses: [15_000, 600_000],
  closing: 3_000,
};

/**
 * Exchanges the memory of one workspace with the remote, where its configuration asks for it: before the
 * first call of a session, and after changes.
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
  /** Cancels the next exchange. */
  #cancel: () => void = () => undefined;
  /** When the first change that is not pushed was made; undefined for none. */
  #changedAt: number | undefined;
  #failures = 0;
  #problem: string | undefined;

  /** @param log gets each new problem. */
  constructor(workspace: Workspace, log: (message: string) => void, pace = usual, clock = real) {
    this.#workspace = workspace;
    this.#log = log;
    this.#pace = pace;
    this.#clock = clock;
  }

  /** Gets what others have pushed; the caller waits only for a moment. */
  async begin(): Promise<void> {
    if (this.#failures > 0 || (await this.#isRecent())) return;
    let timer: NodeJS.Timeout | undefined;
    const moment = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#pace.maxWaitMs);
    });
    await Promise.race([this.#exchange(), moment]);
    clearTimeout(timer);
  }

  /** Pushes a change soon, with others that follow it. */
  changed(): void {
    const time = this.#clock.now().getTime();
    this.#changedAt ??= time;
    const [afterLast, afterFirst] = this.#pace.gather;
    if (this.#failures === 0) {
      this.#exchangeIn(Math.min(afterLast, this.#changedAt + afterFirst - time));
    }
  }

  /** Pushes what is left, for a limited time, and stops. */
  async close(): Promise<void> {
    this.#cancel();
    if (this.#changedAt !== undefined && this.#failures === 0) {
      const timer = setTimeout(() => this.#stop.abort(), this.#pace.closing);
      // An exchange that is under way may have begun before the last change.
      await this.#running;
      await this.#exchange();
      clearTimeout(timer);
    }
    this.#stop.abort();
    this.#cancel();
    await this.#running;
  }

  #exchangeIn(delay: number): void {
    this.#cancel();
    this.#cancel = this.#clock.after(Math.max(0, delay), () => this.#exchange());
  }

  #exchange(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    this.#cancel();
    const began = this.#changedAt;
    this.#changedAt = undefined;
    const bound = this.#bind();
    try {
      await bound.history.sync({ ours: [], theirs: [], confirm: false });
      this.#failures = 0;
      await this.#keep(bound, undefined);
    } catch (thrown) {
      if (this.#stop.signal.aborted) return;
      this.#changedAt ??= began;
      this.#failures += 1;
      const [first, longest] = this.#pace.pauses;
      this.#exchangeIn(Math.min(first * 2 ** (this.#failures - 1), longest));
      await this.#keep(bound, toMemoryError(thrown).text);
    }
    // A change that arrived meanwhile has set its timer, which this exchange may have cleared.
    if (this.#failures === 0 && this.#changedAt !== undefined)
      this.#exchangeIn(this.#pace.gather[0]);
  }

  async #keep({ store }: BoundWorkspace, problem: string | undefined): Promise<void> {
    if (problem !== undefined && problem !== this.#problem) this.#log(problem);
    this.#problem = problem;
    try {
      const { at } = await readSyncState(store.local);
      const time = problem === undefined ? timestamp(this.#clock.now()) : at;
      await writeSyncState(store.local, { at: time, problem });
    } catch (thrown) {
      // The state is for people; the exchange itself is over.
      this.#log(toMemoryError(thrown).text);
    }
  }

  async #isRecent(): Promise<boolean> {
    const { at, problem } = await readSyncState(this.#bind().store.local);
    if (at === undefined || problem !== undefined) return false;
    return Math.abs(this.#clock.now().getTime() - Date.parse(at)) < this.#pace.recent;
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
