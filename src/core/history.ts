import type { MemoryError } from './error.ts';
import type { JsonValue } from './json.ts';
import type { AnyRecordType } from './record-type.ts';
import type { Damaged, SearchRequest, SearchResult } from './store.ts';

/** A commit that a call made. */
export interface CommitMade {
  readonly oid: string;
  /** The branch that now holds it; undefined on a detached HEAD. */
  readonly branch: string | undefined;
}

/** A commit, and what its message says of how it came about. */
export interface CommitInfo {
  readonly oid: string;
  /** When it was committed: ISO 8601, UTC. */
  readonly at: string;
  /** `Ada Lovelace <ada@example.org>`. */
  readonly author: string;
  readonly subject: string;
  /** The message below the subject, trailers left out. */
  readonly reason?: string;
  /** The trailers of the same names; a commit that a person made has none. */
  readonly agent?: string;
  readonly tool?: string;
  readonly session?: string;
  readonly mode?: string;
}

/** What became of a record from one state to another. */
export type ChangeKind = 'added' | 'changed' | 'moved' | 'removed';

/** A record that is not the same in two states. */
export interface Change {
  readonly change: ChangeKind;
  /** Where it lies; of a removed one, where it lay. Relative to `.memory-bank/`. */
  readonly path: string;
  /** Where it lay before it was moved. */
  readonly from?: string;
}

/** How one field of a record differs: by value, by items of a list, or by lines of a text. */
export interface FieldChange {
  readonly field: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
  /** Items of a list that only the later state has, and only the earlier one. */
  readonly added?: readonly JsonValue[];
  readonly removed?: readonly JsonValue[];
  /** Unified, without file names. */
  readonly diff?: string;
}

/** A change, and what it means. */
export interface RecordChange extends Change {
  readonly type: AnyRecordType;
  /** Undefined where the record cannot be read. */
  readonly key?: string | undefined;
  /** Title, name or key, as a search shows it. */
  readonly title?: string | undefined;
  /** Of a changed record; the whole text counts as the field `text` where one state cannot be read. */
  readonly fields: readonly FieldChange[];
}

/** One commit in the history of records. */
export interface LogEntry {
  readonly commit: CommitInfo;
  /** In the history of one record the fields are told, otherwise only the changes themselves. */
  readonly changes: readonly (Change & { readonly fields?: readonly string[] })[];
}

export interface LogRequest {
  /** A record, also one that is gone, or a folder; undefined for everything. */
  readonly path?: string | undefined;
  /** Where the history ends. */
  readonly revision: string;
  readonly limit: number;
  /** How many of the newest commits are left out. */
  readonly skip: number;
}

export interface Log {
  /** Newest first. */
  readonly entries: readonly LogEntry[];
  /** How many commits there are, the ones beyond the limit included. */
  readonly total: number;
  /** Whether older commits are missing because the clone is shallow. */
  readonly shallow: boolean;
}

/** A record as a commit has it; one that cannot be read has an error in the place of its value. */
export interface PastRecord {
  readonly type: AnyRecordType;
  readonly path: string;
  readonly key?: string | undefined;
  readonly value?: object | undefined;
  readonly error?: MemoryError | undefined;
}

/** The records of a commit, read without a checkout; the session's mode rules hold. */
export interface Snapshot {
  readonly commit: CommitInfo;
  /**
   * The text of a record and the commit that gave it this text.
   *
   * @throws MemoryError `not_found`, `forbidden`.
   */
  read(path: string): Promise<PastRecord & { readonly text: string; readonly last: CommitInfo }>;
  /** Records below a folder by path: `limit` of them, after the first `skip`. */
  list(
    under: string | undefined,
    limit: number,
    skip?: number,
  ): Promise<{ readonly records: readonly PastRecord[]; readonly total: number }>;
  search(request: SearchRequest): Promise<SearchResult>;
}

export interface CompareRequest {
  readonly from: string;
  readonly to: string;
  /** A record or a folder; undefined for everything. */
  readonly path?: string | undefined;
  /** How many changes are told in full, and how many of the first are left out. */
  readonly limit: number;
  readonly skip: number;
}

export interface Comparison {
  readonly from: CommitInfo;
  readonly to: CommitInfo;
  /** By path. */
  readonly changes: readonly RecordChange[];
  readonly counts: { readonly [kind in ChangeKind]: number };
}

export interface Restoration {
  /** The commit whose state it is now. */
  readonly commit: CommitInfo;
  readonly restored: readonly string[];
  /** Records that the earlier state does not have. */
  readonly removed: readonly string[];
  /** What the earlier state has but nobody can read; left as it is now. */
  readonly damaged: readonly Damaged[];
}

/** The commits at the tip of the branch that touch nothing but the memory and that nothing else holds. */
export interface Squashable {
  /** Newest first. */
  readonly commits: readonly CommitInfo[];
  /** Why the one before them is not one of them, in words. */
  readonly end: string;
  /** What the commit would say that they become; undefined for fewer than two. */
  readonly message: string | undefined;
}

/** A branch, and how its memory differs from that of HEAD. */
export interface BranchInfo {
  readonly name: string;
  readonly current: boolean;
  readonly commit: CommitInfo;
  /** Commits that change memory and that only this branch has, and that only HEAD has. */
  readonly ahead: number;
  readonly behind: number;
  /** Whether it has no commit in common with HEAD. */
  readonly unrelated: boolean;
  /** From HEAD to the branch, by path. */
  readonly changes: readonly Change[];
}

/** Records whose conflicts are decided for one side, by path; what does not conflict is merged all the same. */
export interface Decisions {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

/** What both sides changed in a way that does not go together. */
export interface Conflict {
  /** Relative to `.memory-bank/`. */
  readonly path: string;
  /** `both sides changed name`. */
  readonly reasons: readonly string[];
}

/** What became of the memory in a merge that native git could not finish. */
export interface Resolution {
  readonly resolved: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** Files that a person has mended: they were left alone. */
  readonly edited: readonly string[];
  /** Files outside the memory that conflict, relative to the top of the work tree. */
  readonly elsewhere: readonly string[];
  /** What ends the merge, once nothing conflicts: `"git merge --continue"`. */
  readonly next: string | undefined;
}

export interface SyncRequest extends Decisions {
  /** Whether commits that change something outside the memory may be pushed, too. */
  readonly confirm: boolean;
}

/** What came and went between the branch and its upstream. */
export interface Synchronization {
  /** `origin/main`. */
  readonly upstream: string;
  /** Where both are now. */
  readonly commit: CommitInfo;
  /** How the memory here has changed by it. */
  readonly received: readonly Change[];
  /** Files outside the memory that were brought up to date. */
  readonly files: number;
  /** Commits that were pushed. */
  readonly sent: number;
}

/** A line of a record, and the commit that wrote it. */
export interface BlamedLine {
  readonly text: string;
  readonly commit: CommitInfo;
  /** Whether the line may be older: the clone is shallow and ends at this commit. */
  readonly boundary: boolean;
}

/**
 * The memory's past.
 *
 * A revision is anything that names one commit: `HEAD~3`, a branch, a remote branch, a tag, an id or
 * the beginning of one, `@{2026-01-31}`, `2026-01-31T10:00:00Z` or `2 days ago`: a time means the last
 * commit before it on the current branch. Paths are relative to `.memory-bank/`.
 *
 * Everything throws MemoryError `not_found` for an unknown revision or path, `invalid_input` for an
 * ambiguous id and a path outside the bank, `damaged` when objects are missing, `forbidden` for what
 * the session's mode does not allow.
 */
export interface History {
  log(request: LogRequest): Promise<Log>;
  at(revision: string): Promise<Snapshot>;
  compare(request: CompareRequest): Promise<Comparison>;
  /**
   * Brings a record, the records below a folder or all of them back to an earlier state, as one commit.
   *
   * @param path undefined for everything.
   * @param revision undefined for the last state of a record that is gone.
   */
  restore(path: string | undefined, revision: string | undefined): Promise<Restoration>;
  /** The local branches, the current one first, then by the time of their last commit. */
  branches(
    limit: number,
    skip?: number,
  ): Promise<{
    readonly branches: readonly BranchInfo[];
    readonly total: number;
  }>;
  /**
   * What `squash` would make one commit.
   *
   * @throws MemoryError `busy` or `unsupported` where it would be refused.
   */
  squashable(): Promise<Squashable>;
  /**
   * Makes the memory commits at the tip of the branch one; records, files and index stay as they are.
   *
   * @param expected what a person has agreed to; undefined for whatever there is.
   * @returns undefined where there are fewer than two.
   * @throws MemoryError `conflict` when it is not what was expected.
   */
  squash(
    expected: Squashable | undefined,
  ): Promise<(Squashable & { readonly made: CommitMade }) | undefined>;
  /**
   * Merges the memory files of a merge, rebase, cherry-pick or stash under way that native git has left
   * unmerged. It makes no commit and leaves every other file alone.
   */
  resolve(decisions: Decisions): Promise<Resolution>;
  /**
   * Fetches, merges and pushes the current branch.
   *
   * @throws MemoryError `not_found` without an upstream, `conflict` for what does not merge by itself,
   *   `confirmation_required`, `remote`, `busy` when others were quicker too often. The branch is as it
   *   was then.
   */
  sync(request: SyncRequest): Promise<Synchronization>;
  /** Who wrote each line of a record. */
  blame(path: string, revision: string): Promise<readonly BlamedLine[]>;
}
