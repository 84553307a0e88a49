import type { BranchMerge, Change, Decisions } from './history.ts';

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

/** The reviews of a memory whose configuration requires them. */
export interface Reviews {
  /** The reviews with changes, the oldest change first. */
  list(): Promise<readonly WaitingReview[]>;
  /**
   * Merges the changes of a review into the memory, and ends it. Changes that come meanwhile keep waiting.
   *
   * @param seen the last commit that the person has seen; undefined for any.
   * @throws MemoryError `not_found`, `conflict` for records that were also changed in the memory, or if
   *   there are changes that the person has not seen.
   */
  accept(name: string, decisions: Decisions, seen?: string): Promise<BranchMerge>;
  /**
   * Brings some records of a review into the memory; the others keep waiting.
   *
   * @param paths of records, or of folders.
   * @returns what has changed in the memory.
   * @throws MemoryError `not_found`.
   */
  acceptRecords(name: string, paths: readonly string[]): Promise<readonly Change[]>;
  /**
   * Brings records back to the state of the memory, in a session that works in a review.
   *
   * @param base of the review.
   * @throws MemoryError `not_found`.
   */
  withdraw(base: string, paths: readonly string[]): Promise<void>;
  /**
   * Ends a review without its changes.
   *
   * @param seen the last commit that the person has seen; undefined for any.
   * @returns its last commit, which brings the branch back.
   * @throws MemoryError `not_found`, `conflict` if there are changes that the person has not seen.
   */
  drop(name: string, seen?: string): Promise<string>;
}
