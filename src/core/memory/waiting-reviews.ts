import type { Change, CommitInfo } from './commit-log.ts';
import type { Decisions } from './conflict.ts';
import type { BranchMerge } from './history.ts';

/** The folder of the branches on which changes wait for a review. */
export const reviewBranches = 'memory-review/';

/** Changes of an agent that wait for a review, on a branch of their own. */
export interface WaitingReview {
  /** The name of the review; its branch is `memory-review/<name>`. */
  readonly name: string;
  /** The last commit. */
  readonly tip: string;
  /** The commit of the memory from which the branch differs only by the waiting changes. */
  readonly base: string;
  readonly agent: string | undefined;
  /** When the last change was made; ISO 8601, UTC. */
  readonly at: string;
  /** The number of commits. */
  readonly commits: number;
  readonly changes: readonly Change[];
  /** Why it can only be accepted record by record; undefined if it can be merged. */
  readonly problem: string | undefined;
}

/** The changes of a review or a branch that a person accepts. */
export interface AcceptRequest extends Decisions {
  /** The last commit that the person has seen; undefined for any. */
  readonly seen?: string | undefined;
  /** Addresses of records, folders or sections, `decisionLog.md#Use git`; without them, all changes. */
  readonly records?: readonly string[];
  /** Why the person accepts them, for the commit; one line. */
  readonly comment?: string | undefined;
}

/** A record or section that a person has confirmed. */
export interface RecordConfirmation {
  readonly address: string;
  /** The id of the commit that confirms it. */
  readonly commit: string;
}

/** A record, or a section of it that can be confirmed on its own. */
export interface Confirmable {
  readonly address: string;
  /** The heading of a section; undefined for the record. */
  readonly title: string | undefined;
  /** The last commit by which a person confirmed it as it is; undefined for none. */
  readonly confirmed: CommitInfo | undefined;
}

/** The reviews of a memory whose configuration requires them, and the judgements of people. */
export interface Reviews {
  /** The reviews with changes, the oldest change first. */
  list(): Promise<readonly WaitingReview[]>;
  /** The last commit of each review, by name, without a look at its changes. */
  tips(): Promise<ReadonlyMap<string, string>>;
  /**
   * Returns those of some commits of HEAD's history that a person has accepted, in a review or from a
   * branch, and those by which a person accepted others.
   */
  accepted(commits: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Merges changes of a review into the memory, record by record.
   *
   * A review that is accepted as a whole ends; changes that come meanwhile keep waiting. Otherwise the
   * changes of other records and sections keep waiting.
   *
   * @throws MemoryError `not_found`, `conflict` for records that were also changed in the memory, or if
   *   there are changes that the person has not seen.
   */
  accept(name: string, request: AcceptRequest): Promise<BranchMerge>;
  /**
   * Merges records of another branch into the memory, without the history of the branch.
   *
   * @param revision names the branch.
   * @throws MemoryError as `accept`.
   */
  acceptFrom(
    revision: string,
    request: AcceptRequest & Required<Pick<AcceptRequest, 'records'>>,
  ): Promise<BranchMerge>;
  /**
   * Brings records or sections back to the state of the memory, in a session that works in a review.
   *
   * @param base of the review.
   * @param seen the last commit of the review that the person has seen.
   * @throws MemoryError `not_found`, `conflict` for a record that was changed since.
   */
  withdraw(base: string, paths: readonly string[], seen?: string): Promise<void>;
  /**
   * Confirms a record or section as it is, with a commit that changes no file. An uncommitted edit of it
   * is committed first.
   *
   * @param seen the last commit that the person has seen; undefined for any.
   * @throws MemoryError `not_found`, `forbidden` for an agent, `conflict` for a record that was changed
   *   since.
   */
  confirm(address: string, seen?: string): Promise<RecordConfirmation>;
  /** The author of the session's commits: `Ada Lovelace <ada@example.org>`. */
  person(): Promise<string>;
  /** Whether the author of the session's commits has confirmed a record or section as it is now. */
  isConfirmed(address: string): Promise<boolean>;
  /** Lists a record and its entries as they are now, the record first; empty before the first commit. */
  confirmable(path: string): Promise<readonly Confirmable[]>;
  /**
   * Ends a review without its changes.
   *
   * @param seen the last commit that the person has seen; undefined for any.
   * @returns its last commit, which brings the branch back.
   * @throws MemoryError `not_found`, `conflict` if there are changes that the person has not seen.
   */
  drop(name: string, seen?: string): Promise<string>;
}
