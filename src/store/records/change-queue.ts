import { MemoryError } from '../../core/values/error.ts';
import type { ProposeAll } from '../../git/commit/commit-attempts.ts';
import type { MutationCaller } from '../../git/commit/commit-waits.ts';
import type { BranchCommit } from '../../git/commit/repository.ts';
import { cancelled } from '../../git/index/index-mark.ts';
import { QueuedChange, type RepeatableChange, Round } from './change-round.ts';

/** One mutation of the repository; see `Repository.commitAll`. */
type CommitAll = (propose: ProposeAll, caller: MutationCaller) => Promise<readonly BranchCommit[]>;

/**
 * Commits the changes of one process, in the order in which they came.
 *
 * It takes longer to bring a commit to the medium than to plan it. Changes that arrive meanwhile are
 * committed together in the next mutation, a round, with a separate commit for each.
 */
export class ChangeQueue {
  readonly #commitAll: CommitAll;
  readonly #waiting: QueuedChange[] = [];
  #isRunning = false;
  /** Called when a change is aborted. */
  #onAbort: (() => void) | undefined;

  constructor(commitAll: CommitAll) {
    this.#commitAll = commitAll;
  }

  /**
   * @returns the commit; undefined if there was nothing to commit.
   * @throws MemoryError after which nothing of this change is written.
   */
  async commit(
    change: RepeatableChange,
    caller: MutationCaller = {},
  ): Promise<BranchCommit | undefined> {
    const { signal } = caller;
    const queued = new QueuedChange(change, caller);
    const abort = () => this.#abort(queued);
    signal?.addEventListener('abort', abort);
    try {
      this.#waiting.push(queued);
      if (queued.isAborted) abort();
      void this.#run();
      return await queued.made;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** A change in a round goes on, unless all changes of the round are aborted. */
  #abort(queued: QueuedChange): void {
    const at = this.#waiting.indexOf(queued);
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      queued.reject(cancelled());
    }
    this.#onAbort?.();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#commitRound();
    this.#isRunning = false;
  }

  async #commitRound(): Promise<void> {
    const first = [...this.#waiting];
    const round = new Round();
    const stop = new AbortController();
    const wanted = () => (round.changes.length > 0 ? round.changes : this.#waiting);
    this.#onAbort = () => {
      if (wanted().every(({ isAborted }) => isAborted)) stop.abort();
    };
    const caller: MutationCaller = {
      signal: stop.signal,
      onWait(text) {
        for (const { caller } of wanted()) caller.onWait?.(text);
      },
      note(text) {
        for (const { caller } of wanted()) caller.note?.(text);
      },
    };
    try {
      round.settle(await this.#commitAll(() => round.propose(this.#waiting), caller));
    } catch (error) {
      this.#fail(round, first, error);
    } finally {
      this.#onAbort = undefined;
    }
  }

  /** @param first the changes that waited when the round began. */
  #fail(round: Round, first: readonly QueuedChange[], error: unknown): void {
    const { changes } = round;
    const code = error instanceof MemoryError ? error.code : undefined;
    if (changes.length > 1 && code !== 'busy' && code !== 'cancelled') {
      // The reason may be one of them.
      for (const queued of changes) queued.alone = true;
      this.#waiting.unshift(...changes);
      return;
    }
    // All that have waited for the locks for the whole time get the error, not only the first.
    const failed = changes.length > 0 ? changes : first;
    for (const queued of failed) {
      const at = this.#waiting.indexOf(queued);
      if (at >= 0) this.#waiting.splice(at, 1);
      queued.reject(error);
    }
  }
}
