import type { GivenEvidence } from '../evidence/annotations.ts';
import type { Claims } from '../memory/claims.ts';
import type { MadeCommit } from '../memory/commit-log.ts';
import type { History } from '../memory/history.ts';
import type { Memories } from '../memory/pinned-memories.ts';
import type { ClientFile, ProposedEntry } from '../memory/proposed-entry.ts';
import type { Session } from '../memory/session.ts';
import type { Store } from '../memory/store.ts';
import type { Reviews } from '../memory/waiting-reviews.ts';
import type { HookMoment } from './hook-moment.ts';
import type { Summarizer } from './summarizer.ts';

/** The place of a memory, which is known also if its settings cannot be used. */
export interface ProjectSite {
  /** Absolute path of the folder that holds `.memory-bank/`. */
  readonly root: string;
  /** Absolute path of the memory folder, normally `<root>/.memory-bank`. */
  readonly folder: string;
  /** Whether there is any memory: its `config.yaml` or a record, also one made by hand. */
  readonly initialized: boolean;
  /** Whether the memory is exchanged with the remote by itself. */
  readonly syncs: boolean;
  /** Whether its settings cannot be used, so that nothing is written. */
  readonly isStopped: boolean;
}

/** Facts about the project whose memory is served. */
export interface ProjectInfo extends Omit<ProjectSite, 'isStopped'> {
  /** The id in `config.yaml`; undefined before the first write. */
  readonly projectId: string | undefined;
  /** Groups of words that mean the same in this project, if its settings name any. */
  readonly synonyms?: readonly (readonly string[])[];
  /** Why this program must not write to the memory: its format is a later one. */
  readonly readOnly?: string | undefined;
}

/** The position of HEAD. */
export interface HeadInfo {
  /** `main`, or undefined on a detached HEAD or outside a repository. */
  readonly branch: string | undefined;
  /** Hexadecimal object id, or undefined on an unborn branch or outside a repository. */
  readonly oid: string | undefined;
  /** Why neither is known, and what to do. */
  readonly problem?: string;
}

/** The changes of the code since a commit, without `.memory-bank/`. */
export interface Drift {
  /** Commits since then that touch something outside `.memory-bank/`; capped at `limit`. */
  readonly commits: number;
  /** Paths changed since then outside `.memory-bank/`, sorted; capped. */
  readonly files: readonly string[];
  /** Whether a cap was reached. */
  readonly truncated: boolean;
}

/** A commit of the project. */
export interface ProjectCommit {
  readonly oid: string;
  /** The first line of its message. */
  readonly subject: string;
}

/** The work on a branch, without `.memory-bank/`. */
export interface BranchWork {
  /** The branch that it began on, such as `main` or `origin/main`; undefined on the main branch. */
  readonly base: string | undefined;
  /** Paths relative to the root that the branch has changed since its base, sorted; capped. */
  readonly committed: readonly string[];
  /** Paths of tracked files that differ from the index by size or time, sorted; capped. */
  readonly edited: readonly string[];
}

/** How logs are stored: each as one file, or with a file for each decision and the progress of each session. */
export type Layout = 'log' | 'entries';

/** The layout of a memory, and what a change of it does. */
export interface LayoutInfo {
  readonly layout: Layout;
  /** The numbers of entries that get or have files. */
  readonly decisions: number;
  readonly progress: number;
  /** Files that a change writes or removes, relative to the memory folder. */
  readonly files: readonly string[];
}

/** The project around the memory. */
export interface Project {
  /** @throws MemoryError `damaged` if the settings cannot be used. */
  info(): Promise<ProjectInfo>;
  site(): Promise<ProjectSite>;
  head(): Promise<HeadInfo>;
  /**
   * Creates what is missing of the memory folder, `config.yaml` and `.gitattributes`. Every first
   * write does the same, so a handler calls it only if that is the purpose of the tool.
   *
   * @returns the project's id.
   */
  initialize(): Promise<string>;
  /** Lists the files of the memory that git has as unmerged, by their paths in the memory folder. */
  conflicts(): Promise<readonly string[]>;
  /** Lists the files that `initialize` would write, by their paths in the memory folder. */
  lacking(): Promise<readonly string[]>;
  /**
   * Reads a file of the project outside the memory folder, at most `limit` bytes.
   *
   * @param path relative to the root of the project; `..`, links and `.git` are refused.
   * @returns undefined if the file does not exist.
   */
  readFile(path: string, limit: number): Promise<string | undefined>;
  /**
   * Reads places of the project that are given as evidence, as the work tree has them now.
   *
   * @throws MemoryError `invalid_input` for a place that is not in the project.
   */
  cite(places: readonly string[]): Promise<readonly GivenEvidence[]>;
  /** Returns the commit that last changed a path in `.memory-bank/`, and its time (ISO 8601, UTC). */
  lastChange(path: string): Promise<{ readonly oid: string; readonly at: string } | undefined>;
  /** Returns the layout of the logs, and what a change to another one would do. */
  layout(to?: Layout): Promise<LayoutInfo>;
  /**
   * Changes how the logs are stored, in one commit; for entries also moves those that a merge left in logs.
   *
   * @returns undefined if there is nothing to change.
   * @throws MemoryError `busy` during a merge, `already_exists` if files are in the way, `unsupported`.
   */
  changeLayout(to: Layout): Promise<MadeCommit | undefined>;
  /** Returns the changes of the code since a commit. */
  drift(since: string, limit: number): Promise<Drift>;
  /** Lists the commits since an earlier one that change files outside the memory, the oldest first. */
  commitsSince(earlier: string): Promise<readonly ProjectCommit[]>;
  /** Whether hooks speak at a moment of a session. */
  speaksAt(moment: HookMoment): Promise<boolean>;
  /** Whether the project wants the commits of a session in its progress. */
  recordsCommits(): Promise<boolean>;
  /**
   * Finds statements that the project already has and the memory could have: its decisions, instructions
   * for agents, commits that decide, and scripts. Nothing is written.
   *
   * @param outside files of clients outside the project.
   */
  proposals(outside: readonly ClientFile[]): Promise<readonly ProposedEntry[]>;
  /** Returns the files that the branch and the work tree change, at most `limit` of each. */
  work(limit: number): Promise<BranchWork>;
}

/** A mode, as its rule file defines it. An undefined list means no restriction. */
export interface Mode {
  readonly name: string;
  /** Its source, for people: `built-in`, `.clinerules-code`, `.memory-bank/rules/code.yaml`. */
  readonly source: string;
  readonly instructions: readonly string[];
  readonly umb:
    | {
        readonly trigger: string;
        readonly instructions: readonly string[];
        readonly overrideFileRestrictions: boolean;
      }
    | undefined;
  readonly filesToRead: readonly string[] | undefined;
  readonly filesToUpdate: readonly string[] | undefined;
  /** The phrases that call for a mode, by the name of that mode. */
  readonly triggers: { readonly [mode: string]: readonly string[] };
}

/** A rule file that was skipped, and why. */
export interface SkippedRule {
  readonly source: string;
  readonly reason: string;
}

/** The modes of the project and the one of the session. */
export interface Modes {
  /**
   * Lists architect, code, ask, debug, test, then the project's own modes by name.
   *
   * @param planned contents of rule files that are not written yet, by source.
   */
  list(
    planned?: ReadonlyMap<string, string>,
  ): Promise<{ readonly modes: readonly Mode[]; readonly skipped: readonly SkippedRule[] }>;
  /** Lists the modes that the project would have with these rule files: texts by source. */
  listFrom(
    files: ReadonlyMap<string, string>,
  ): Promise<{ readonly modes: readonly Mode[]; readonly skipped: readonly SkippedRule[] }>;
  /**
   * Returns the session's mode, as its rule file defines it now, or last did if it is missing or
   * broken; undefined if none is set.
   */
  current(): Promise<Mode | undefined>;
  /**
   * Sets the session's mode; null ends it. An update in progress in another mode ends with that mode.
   *
   * @throws MemoryError `damaged` for a mode whose rule files are all unusable, `not_found` for a
   *   mode without any.
   */
  switch(name: string | null): Promise<Mode | undefined>;
  /** Whether "Update Memory Bank" is in progress in this session. */
  readonly updating: boolean;
  /** Begins or ends it. */
  setUpdating(updating: boolean): void;
  /** Whether the message is the UMB command in the session's mode. */
  isUmbCommand(message: string): Promise<boolean>;
  /** Returns the mode that a message calls for by the `mode_triggers` of the session's mode. */
  triggeredBy(message: string): Promise<string | undefined>;
}

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error';

/**
 * The input of a handler: its only access to anything outside its toolset.
 *
 * `store`, `project`, `history`, `modes`, `claims`, `memories` and `reviews` throw `no_project` where a session has no
 * project. They are those of the current project, so a handler reads them again after `useProject`.
 */
export interface Context {
  /** The records of the project. */
  readonly store: Store;
  /** Opens the records of the user: `~/.memory-bank/`, or the folder that `MEMORY_BANK_HOME` names. */
  home(): Promise<Store>;
  /**
   * Points the session at the memory of another folder.
   *
   * @param path of the project; one that ends in `.memory-bank` is the memory folder itself.
   * @throws MemoryError `invalid_input` if the path is a file, `no_project` for `/` and the home
   *   directory, `cannot_create` if `create` is set and the folder cannot be created.
   */
  useProject(path: string, options: { readonly create: boolean }): Promise<ProjectInfo>;
  /**
   * Gets what others have pushed, where the memory is exchanged by itself: for an answer about all of it.
   * Takes a second at most, and fails silently.
   */
  catchUp(): Promise<void>;
  readonly project: Project;
  readonly history: History;
  readonly modes: Modes;
  readonly claims: Claims;
  /** The memories of other repositories that the project pins. */
  readonly memories: Memories;
  /** The changes of agents that wait for a review. */
  readonly reviews: Reviews;
  readonly session: Session;
  /** Returns the names of the tools that the session is offered. */
  toolNames(): Promise<ReadonlySet<string>>;
  /** Undefined if no language model is configured. */
  readonly summarizer: Summarizer | undefined;
  /**
   * Returns the current time, always later than any earlier result, so that records of one call
   * have different times and sort by them.
   */
  now(): Date;
  /** Returns a new UUID, version 4. */
  uuid(): string;
  /** Returns a new id of 12 URL-safe characters. */
  shortId(): string;
  /** Aborted when the caller cancels the call. */
  readonly signal: AbortSignal;
  /** Reports the progress of long work to the caller, if it asked for it. */
  progress(done: number, total: number, message: string): void;
  /** Adds a sentence for the model next to the answer; the body stays unchanged. */
  note(text: string): void;
  /** Sends a log message to the client and to stderr. */
  log(level: LogLevel, message: string): void;
}

/** The day of a time, in UTC: `2027-01-31`. */
export function dayOf(time: Date): string {
  return timestamp(time).slice(0, 10);
}

/** Formats a time for records and answers: ISO 8601, UTC, milliseconds, `Z`. */
export function timestamp(time: Date): string {
  return time.toISOString();
}
