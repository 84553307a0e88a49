import { monotonicTime } from '../../core/timing/clock.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Proposal } from '../../git/commit/commit-plan.ts';
import type { MutationCaller } from '../../git/commit/commit-waits.ts';
import type { BranchCommit } from '../../git/commit/repository.ts';
import { storageError } from '../../git/disk/storage-error.ts';
import { cancelled } from '../../git/index/index-mark.ts';
import { type LiveTransaction, RecordChangedError } from './transaction.ts';

/** A change of the memory that can be planned again and again. */
export interface RepeatableChange {
  /**
   * @param earlier the change before it, which is committed together with it.
   * @throws RecordChangedError if a file has changed since it was read; any other error of the change.
   */
  plan(earlier?: LiveTransaction): Promise<PlannedChange>;
  /** Whether no other change may be committed together with it. */
  readonly alone: boolean;
}

export interface PlannedChange {
  readonly draft: LiveTransaction;
  /** Undefined if there is nothing to commit. */
  readonly proposal: Proposal | undefined;
  /** Whether the next changes must wait until it is committed. */
  readonly last: boolean;
}

/** A change in the queue, and the promise of its commit. */
export class QueuedChange {
  readonly change: RepeatableChange;
  readonly caller: MutationCaller;
  /** The commit; undefined if there was nothing to commit. */
  readonly made: Promise<BranchCommit | undefined>;
  /** Whether it is committed without others. */
  alone: boolean;
  resolve!: (made: BranchCommit | undefined) => void;
  reject!: (error: unknown) => void;

  constructor(change: RepeatableChange, caller: MutationCaller) {
    [this.change, this.caller] = [change, caller];
    this.alone = change.alone;
    this.made = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get isAborted(): boolean {
    return this.caller.signal?.aborted ?? false;
  }
}

type Outcome = { readonly proposal: Proposal | undefined } | { readonly error: unknown };

const maxAttempts = 20;

/** Limit of the changes of a round. */
const maxChanges = 64;

/** After this time in milliseconds, a round takes no more changes: its first change waits for all. */
const maxPlanning = 100;

/**
 * Changes that are committed in one mutation of the repository, each in a separate commit and planned on
 * top of the one before.
 */
export class Round {
  readonly changes: QueuedChange[] = [];
  #outcomes: Outcome[] = [];
  #isFormed = false;

  /**
   * Plans its changes. The first call takes them from the queue.
   *
   * The error of a change rejects only that change, and only when the others are committed: it may come
   * from one of them. The error of a change without others is thrown.
   */
  propose(queue: QueuedChange[]): Promise<readonly Proposal[]> {
    return retried(async () => {
      this.#outcomes = [];
      let earlier: LiveTransaction | undefined;
      const follow = async (queued: QueuedChange): Promise<boolean> => {
        const { draft, last } = await this.#plan(queued, earlier);
        earlier = draft ?? earlier;
        return last;
      };
      if (this.#isFormed) for (const queued of this.changes) await follow(queued);
      else await this.#form(queue, follow);
      return this.#outcomes.flatMap((one) => ('proposal' in one && one.proposal) || []);
    });
  }

  async #form(
    queue: QueuedChange[],
    follow: (queued: QueuedChange) => Promise<boolean>,
  ): Promise<void> {
    this.#isFormed = true;
    const end = monotonicTime() + maxPlanning;
    for (let next = queue[0]; next; next = queue[0]) {
      if (next.alone && this.changes.length > 0) break;
      queue.shift();
      this.changes.push(next);
      if ((await follow(next)) || next.alone) break;
      if (this.changes.length === maxChanges || monotonicTime() > end) break;
    }
  }

  async #plan(
    { change, isAborted }: QueuedChange,
    earlier: LiveTransaction | undefined,
  ): Promise<{ readonly draft?: LiveTransaction; readonly last: boolean }> {
    try {
      if (isAborted) throw cancelled();
      const { draft, proposal, last } = await change.plan(earlier);
      this.#outcomes.push({ proposal });
      return { draft, last };
    } catch (error) {
      if (this.changes.length === 1 || error instanceof RecordChangedError) throw error;
      // A checkout that is under way may be the reason: the repository tries again.
      if (error instanceof MemoryError && error.code === 'damaged') throw error;
      this.#outcomes.push({ error: storageError(error, 'change the memory') });
      return { last: false };
    }
  }

  /** Settles its changes after the mutation. */
  settle(made: readonly BranchCommit[]): void {
    const commits = made.values();
    for (const [i, queued] of this.changes.entries()) {
      const outcome = this.#outcomes[i] ?? { proposal: undefined };
      if ('error' in outcome) queued.reject(outcome.error);
      else queued.resolve(outcome.proposal && commits.next().value);
    }
  }
}

/**
 * Plans again as long as files change meanwhile.
 *
 * @throws MemoryError `busy`.
 */
export async function retried<T>(plan: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    try {
      return await plan();
    } catch (error) {
      if (!(error instanceof RecordChangedError)) throw error;
    }
  }
  throw new MemoryError('busy', 'The files of the memory change too fast to work on them.', {
    hint: 'Nothing was changed. Try again.',
  });
}
