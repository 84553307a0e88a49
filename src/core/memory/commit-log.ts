import type { AnyRecordType } from '../record/record-type.ts';
import type { JsonValue } from '../values/json.ts';

/** A commit that a call made. */
export interface MadeCommit {
  readonly oid: string;
  /** The branch that contains it; undefined on a detached HEAD. */
  readonly branch: string | undefined;
  /** The folder that became a git repository for this commit; absent where there was one. */
  readonly newRepository?: string;
}

/** A commit, and the parts of its message. */
export interface CommitInfo {
  readonly oid: string;
  /** When it was committed: ISO 8601, UTC. */
  readonly at: string;
  /** `Ada Lovelace <ada@example.org>`. */
  readonly author: string;
  readonly subject: string;
  /** The message below the subject, without the trailers. */
  readonly reason?: string;
  /** The trailers of these names; a commit made by a person has none. */
  readonly agent?: string;
  readonly tool?: string;
  readonly session?: string;
  readonly mode?: string;
  /** Whether a person accepted changes of agents with it. */
  readonly isAcceptance?: true;
}

/** Whether the tool that verifies records made a commit, or its command. */
export function isOfVerify({ tool = '' }: CommitInfo): boolean {
  return /^verify(?:_memory)?$/.test(tool);
}

/** Whether a commit says that a record or section is as true as it was written. */
export function isVerification(commit: CommitInfo): boolean {
  // The tool also sets when a record expires, or how sure it is.
  return isOfVerify(commit) && commit.subject.startsWith('memory: verify ');
}

/** The kind of difference between a record in two states. */
export type ChangeKind = 'added' | 'changed' | 'moved' | 'removed';

/** A record that differs between two states. */
export interface Change {
  readonly change: ChangeKind;
  /** Its path, for a removed record its last path, relative to `.memory-bank/`. */
  readonly path: string;
  /** Its path before it was moved. */
  readonly from?: string;
}

/** The difference in one field of a record: by value, by items of a list, or by lines of a text. */
export interface FieldChange {
  readonly field: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
  /** Items of a list that only the later state has, and items that only the earlier state has. */
  readonly added?: readonly JsonValue[];
  readonly removed?: readonly JsonValue[];
  /** Unified, without file names. */
  readonly diff?: string;
}

/** A change of a record, field by field. */
export interface RecordChange extends Change {
  readonly type: AnyRecordType;
  /** Undefined if the record cannot be read. */
  readonly key?: string | undefined;
  /** Title, name or key, as a search shows it. */
  readonly title?: string | undefined;
  /** Fields of a changed record; if one state cannot be read, the whole text is the field `text`. */
  readonly fields: readonly FieldChange[];
  /** Whether both sides have changed it since they diverged, if the request asks for it. */
  readonly isByBoth?: boolean;
  /** Addresses of the changed sections of a markdown record, if the request asks for them. */
  readonly sections?: readonly string[];
}

/** A record that a commit changed, or that a person confirmed with it. */
export interface LoggedChange extends Omit<Change, 'change'> {
  readonly change: ChangeKind | 'confirmed';
  /** In the history of one record. */
  readonly fields?: readonly string[];
}

/** One commit in the history of records. */
export interface LogEntry {
  readonly commit: CommitInfo;
  /** The changes; the history of one record also lists the fields. */
  readonly changes: readonly LoggedChange[];
  /** For a memory commit that also changes files outside the memory, if requested: these files. */
  readonly outside?: readonly string[];
}

/** Commits by their authors and days. */
export interface CommitFilter {
  /** An agent without its version, or an author. */
  readonly agent?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  /** The first and the last day in UTC: `2026-01-31`. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/** Numbers of commits by day in UTC, and by agent or author. */
export interface CommitCounts {
  readonly days: ReadonlyMap<string, number>;
  readonly authors: ReadonlyMap<string, number>;
}

export interface LogRequest {
  /** A record or a section of one, which may be deleted, or a folder; undefined for everything. */
  readonly path?: string | undefined;
  /** The newest commit of the history. */
  readonly revision: string;
  /** Leaves out the commits that this revision has: those since then remain. */
  readonly since?: string | undefined;
  readonly limit: number;
  /** Number of the newest commits to leave out. */
  readonly skip: number;
  /** Whether to list the files outside the memory that memory commits change. */
  readonly outside?: boolean;
  /** The commits to list; without it, all. */
  readonly filter?: CommitFilter;
}

export interface Log {
  /** Newest first. */
  readonly entries: readonly LogEntry[];
  /** Number of all commits, including those beyond the limit. */
  readonly total: number;
  /** Whether older commits are missing because the clone is shallow. */
  readonly shallow: boolean;
}

/** The newest commits of the memory. */
export interface NewestCommits extends Log {
  /** Whether older commits were not looked at, because the index of the commits is not built yet. */
  readonly isPart: boolean;
}
