import type { EvidenceReport, EvidenceRequest } from '../evidence/verdict.ts';
import type { AnyRecordType } from '../record/record-type.ts';
import type { MemoryError } from '../values/error.ts';
import type {
  Change,
  ChangeKind,
  CommitCounts,
  CommitInfo,
  Log,
  LogRequest,
  MadeCommit,
  NewestCommits,
  RecordChange,
} from './commit-log.ts';
import type { Conflict, Decisions } from './conflict.ts';
import type { Damaged } from './listing.ts';
import type { HitChange, SearchHit, SearchRequest, SearchResult } from './search-hit.ts';

/** A record in a commit; it has a value, or an error if it cannot be read. */
export interface PastRecord {
  readonly type: AnyRecordType;
  readonly path: string;
  readonly key?: string | undefined;
  readonly value?: object | undefined;
  readonly error?: MemoryError | undefined;
}

/** The records of a commit, read without a checkout, under the rules of the session's mode. */
export interface Snapshot {
  readonly commit: CommitInfo;
  /**
   * Returns the text of a record and the commit that wrote it.
   *
   * @throws MemoryError `not_found`, `forbidden`.
   */
  read(path: string): Promise<PastRecord & { readonly text: string; readonly last: CommitInfo }>;
  /** Lists records below a folder, sorted by path: `limit` of them, after the first `skip`. */
  list(
    under: string | undefined,
    limit: number,
    skip?: number,
  ): Promise<{ readonly records: readonly PastRecord[]; readonly total: number }>;
  search(request: SearchRequest): Promise<SearchResult>;
  /** Adds to records or sections when and by whom they were last changed, where it is known. */
  dated<T extends Pick<SearchHit, 'path' | 'section'>>(
    places: readonly T[],
  ): Promise<readonly (T & { readonly changed?: HitChange })[]>;
  /**
   * Returns the texts of the rule files of modes, by source.
   *
   * Next to a memory on branches of its own, those outside the memory are not in its commits.
   */
  ruleFiles(): ReadonlyMap<string, string>;
}

export interface CompareRequest {
  readonly from: string;
  readonly to: string;
  /** Whether to leave out the records that `to` has as they were where both have diverged. */
  readonly sinceFork?: boolean | undefined;
  /** Whether to name the changed sections of markdown records. */
  readonly sections?: boolean;
  /** A record, the address of a section of one, or a folder; undefined for everything. */
  readonly path?: string | undefined;
  /** Number of changes to return with their fields, after the first `skip`. */
  readonly limit: number;
  readonly skip: number;
}

export interface Comparison {
  readonly from: CommitInfo;
  readonly to: CommitInfo;
  /** Sorted by path. */
  readonly changes: readonly RecordChange[];
  readonly counts: { readonly [kind in ChangeKind]: number };
  /** Number of the records that differ and were left out, if the request asks for it. */
  readonly others?: number;
}

export interface Restoration {
  /** The commit whose state was restored. */
  readonly commit: CommitInfo;
  readonly restored: readonly string[];
  /** Records that the earlier state does not have. */
  readonly removed: readonly string[];
  /** The later commits whose changes it took back, the newest first. */
  readonly undone: readonly CommitInfo[];
  /** Files that are not readable in the earlier state; they stay as they are now. */
  readonly damaged: readonly Damaged[];
}

export interface RestoreOptions {
  /**
   * Whether a record is removed that the revision does not have, also if the path names it. Default:
   * false, which refuses it.
   */
  readonly removes?: boolean;
  /** The last commit whose records the person has seen; a record that was changed since is refused. */
  readonly seen?: string | undefined;
}

/** The last commits of the branch that change only the memory and that nothing else refers to. */
export interface Squashable {
  /** The tip of the branch; undefined where there is nothing to squash. */
  readonly tip: string | undefined;
  /** Newest first. */
  readonly commits: readonly CommitInfo[];
  /** Commits between them that change only other files, newest first. They end up below the new one. */
  readonly moved: readonly CommitInfo[];
  /** Why the commit before them cannot be squashed, in words. */
  readonly end: string;
  /** The message of the squashed commit; undefined for fewer than two commits. */
  readonly message: string | undefined;
}

/** A memory commit that also changes other files, as `git commit --amend` after a change makes it. */
export interface TangledCommit {
  readonly commit: CommitInfo;
  /** The other files, relative to the top of the work tree. */
  readonly outside: readonly string[];
}

export interface DivisionRequest {
  /** The commit; undefined for the newest one that can be divided. */
  readonly revision: string | undefined;
  /** The message for the code; undefined for a default. */
  readonly message: string | undefined;
  /** Whether the code goes into the commit of code below, instead of a commit of its own. */
  readonly amend: boolean;
}

/** The division of a tangled commit into one of the memory and, above it, one of the code. */
export interface Division extends TangledCommit {
  /** The tip of the branch. */
  readonly tip: string;
  /** The records that stay in the memory commit, relative to the memory. */
  readonly records: readonly string[];
  /** The commit of code below, which the code can amend. */
  readonly target: CommitInfo | undefined;
  /** The whole message of the commit with the code. */
  readonly message: string;
  /** Number of commits above, which are only moved. */
  readonly above: number;
  /** Number of other commits of the branch that can be divided. */
  readonly others: number;
  /** The memory folder, relative to the top of the work tree. */
  readonly folder: string;
  /** Why it cannot be divided, in words; undefined if it can. */
  readonly obstacle: string | undefined;
}

/** A branch, and the difference between its memory and that of HEAD. */
export interface BranchInfo {
  readonly name: string;
  readonly current: boolean;
  readonly commit: CommitInfo;
  /** Number of commits with changes of the memory that only this branch has, and that only HEAD has. */
  readonly ahead: number;
  readonly behind: number;
  /** Whether it has no commit in common with HEAD. */
  readonly unrelated: boolean;
  /** From HEAD to the branch, by path. */
  readonly changes: readonly Change[];
}

/** A record that git has as unmerged, with the text of each side; undefined for no readable file. */
export interface UnmergedRecord {
  /** Relative to `.memory-bank/`. */
  readonly path: string;
  readonly ours: string | undefined;
  readonly theirs: string | undefined;
}

/** The result of resolving a merge that native git could not finish. */
export interface Resolution {
  readonly resolved: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** Files that a person has edited since; they were left alone. */
  readonly edited: readonly string[];
  /** Files outside the memory that conflict, relative to the top of the work tree. */
  readonly elsewhere: readonly string[];
  /** The command that concludes the merge once there are no conflicts: `"git merge --continue"`. */
  readonly next: string | undefined;
}

export interface SyncRequest extends Decisions {
  /** Whether commits that also change files outside the memory may be pushed. */
  readonly confirm: boolean;
}

/** The result of a sync of the branch with its upstream. */
export interface Synchronization {
  /** `origin/main`. */
  readonly upstream: string;
  /** The commit of both after the sync. */
  readonly commit: CommitInfo;
  /** The changes of the local memory. */
  readonly received: readonly Change[];
  /** Number of files outside the memory that were updated. */
  readonly files: number;
  /** Number of commits that were pushed. */
  readonly sent: number;
  /** A moment of the monotonic clock: both sides have what was committed before. */
  readonly begun: number;
}

/** The result of a merge of another branch of the memory. */
export interface BranchMerge {
  /** The commit of the current branch now. */
  readonly commit: CommitInfo;
  /** Whether the merge changed the branch. */
  readonly isNew: boolean;
  readonly changes: readonly Change[];
}

/** A line of a record, and the commit that wrote it. */
export interface BlamedLine {
  readonly text: string;
  /** Its number in the record, from 1 on. */
  readonly line: number;
  readonly commit: CommitInfo;
  /** Whether the line may be older than this commit, because a shallow clone ends at it. */
  readonly boundary: boolean;
  /** The last commit by which a person confirmed a text that contains the line, as it is. */
  readonly confirmed?: CommitInfo;
}

/**
 * The history of the memory.
 *
 * A revision is a text that names one commit: `HEAD~3`, a branch, a remote branch, a tag, an id or the
 * beginning of one, `@{2026-01-31}`, `2026-01-31T10:00:00Z` or `2 days ago`. A time means the last
 * commit before it on the current branch. Paths are relative to `.memory-bank/`.
 *
 * Every method throws MemoryError `not_found` for an unknown revision or path, `invalid_input` for an
 * ambiguous id or a path outside the memory folder, `damaged` when objects are missing, `forbidden` if
 * the session's mode does not allow it.
 */
export interface History {
  log(request: LogRequest): Promise<Log>;
  /**
   * Lists the newest commits without waiting for the index of a long history.
   *
   * @param maxWaitMs how long to wait for the index of a longer history, which is then built in the
   *   background, in milliseconds; 0 does not begin it.
   * @returns as `log`; of a part, `total` is the number of the entries.
   */
  newest(revision: string, limit: number, maxWaitMs?: number): Promise<NewestCommits>;
  /** Whether the index of the commits up to a revision is in memory. */
  isIndexed(revision: string): Promise<boolean>;
  /** Counts all commits of the memory up to a revision. */
  counts(revision: string): Promise<CommitCounts>;
  at(revision: string): Promise<Snapshot>;
  compare(request: CompareRequest): Promise<Comparison>;
  /**
   * Restores an earlier state of a record or section, of the records below a folder, or of all, as one
   * commit.
   *
   * @param path undefined for everything.
   * @param revision undefined for the last state of a deleted record.
   * @throws MemoryError `conflict` for a record that was changed since the commit that was seen.
   */
  restore(
    path: string | undefined,
    revision: string | undefined,
    options?: RestoreOptions,
  ): Promise<Restoration>;
  /** Lists the local branches: the current one, then the others by the time of their last commit. */
  branches(
    limit: number,
    skip?: number,
  ): Promise<{
    readonly branches: readonly BranchInfo[];
    readonly total: number;
  }>;
  /**
   * Lists the commits that `squash` would join.
   *
   * @param message of the new commit; undefined for one made from the old messages.
   * @throws MemoryError `busy` or `unsupported` if `squash` would be refused.
   */
  squashable(message?: string): Promise<Squashable>;
  /**
   * Joins the unpushed memory commits of the branch to one; records, files and index stay as they are.
   * Commits between them that change only other files end up below it.
   *
   * @param expected the commits that a person has agreed to; undefined for any commits.
   * @param message as for `squashable`.
   * @returns undefined for fewer than two commits.
   * @throws MemoryError `conflict` when the commits are not the expected ones.
   */
  squash(
    expected: Squashable | undefined,
    message?: string,
  ): Promise<(Squashable & { readonly made: MadeCommit }) | undefined>;
  /** Lists the unpushed memory commits of the branch that also change other files, newest first. */
  tangled(): Promise<readonly TangledCommit[]>;
  /**
   * Returns how `divide` would divide a commit.
   *
   * @returns undefined if there is no commit to divide.
   * @throws MemoryError `invalid_input` for a commit that is not a tangled one; `not_found` if there is
   *   no commit to amend; `busy` or `unsupported` if `divide` would be refused.
   */
  division(request: DivisionRequest): Promise<Division | undefined>;
  /**
   * Divides an unpushed memory commit that also changes other files; files and index stay as they are.
   *
   * @param expected the division that a person has agreed to; undefined for any.
   * @throws MemoryError as `division`; `unsupported` with the obstacle; `conflict` when the commits are
   *   not the expected ones.
   */
  divide(
    request: DivisionRequest,
    expected: Division | undefined,
  ): Promise<(Division & { readonly made: MadeCommit }) | undefined>;
  /**
   * Merges the memory files that a merge, rebase, cherry-pick or stash of native git left in conflict.
   *
   * It makes no commit and leaves every other file alone.
   *
   * @throws MemoryError `damaged` for a text that is not a record of its type, `secret` for one that
   *   contains a credential.
   */
  resolve(decisions: Decisions): Promise<Resolution>;
  /** Lists the records that git has as unmerged and that the session's mode may read. */
  unmerged(): Promise<readonly UnmergedRecord[]>;
  /**
   * Fetches, merges and pushes the current branch.
   *
   * If it fails, the branch is as it was before.
   *
   * @throws MemoryError `not_found` without an upstream, `conflict` for records that do not merge,
   *   `confirmation_required`, `remote`, `busy` after too many lost races.
   */
  sync(request: SyncRequest): Promise<Synchronization>;
  /**
   * Returns why `sync` without `confirm` would not push the commits of this branch, as far as this clone knows
   * without asking the remote: the error about commits of code that are not pushed.
   */
  unpublished(): Promise<MemoryError | undefined>;
  /**
   * Merges another branch of a memory that is apart from the code into the current one.
   *
   * @throws MemoryError `conflict` for records that both sides changed; `unsupported` for a memory on the
   *   branches of the project, which git merges with the code.
   */
  merge(revision: string, decisions: Decisions): Promise<BranchMerge>;
  /** Compares the code that records rest on with the code in the work tree. */
  evidence(request: EvidenceRequest): Promise<EvidenceReport>;
  /** Returns the lines of a record or section, each with the commit that wrote it. */
  blame(path: string, revision: string): Promise<readonly BlamedLine[]>;
}
