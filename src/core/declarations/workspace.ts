import type { Claims } from '../memory/claims.ts';
import type { MadeCommit } from '../memory/commit-log.ts';
import type { History } from '../memory/history.ts';
import type { Memories } from '../memory/pinned-memories.ts';
import type { Session } from '../memory/session.ts';
import type { Store } from '../memory/store.ts';
import type { Reviews } from '../memory/waiting-reviews.ts';
import type { AnyRecordType } from '../record/record-type.ts';
import type { Modes, Project } from './context.ts';
import type { Embedder } from './embedder.ts';

/** The name of the folder that holds a project's memory. */
export const memoryFolderName = '.memory-bank';

/** The call on whose behalf records are read and changed. */
export interface Binding {
  readonly session: Session;
  /** The tool's wire name, for the commit's `Memory-Tool`. */
  readonly tool: string;
  readonly signal: AbortSignal;
  /** Whether a change is refused; false by default. */
  readonly isReading?: boolean;
  /** Receives each commit, once it is on disk. */
  onCommit(commit: MadeCommit): void;
  /** Receives the progress of long work. */
  progress(done: number, total: number, message: string): void;
  /** Receives what a change waits for, about once a second. */
  onWait?(text: string): void;
  /** Receives a sentence for the caller next to the answer. */
  note?(text: string): void;
}

/** The workspace of one call. */
export interface BoundWorkspace {
  readonly store: Store;
  readonly project: Project;
  readonly modes: Modes;
  readonly history: History;
  readonly claims: Claims;
  readonly memories: Memories;
  readonly reviews: Reviews;
}

/** The rule that changes of agents wait for a review. */
export interface ReviewRule {
  /** The name of the review that all agents share; undefined for one for each session. */
  readonly branch: string | undefined;
}

/** The memory of one root on disk, shared by all sessions that use it. */
export interface Workspace {
  /** Absolute path of the folder that contains the memory folder. */
  readonly root: string;
  /** Whether its configuration asks for automatic exchanges with the remote. */
  readonly syncs: boolean;
  /** Set if its configuration requires a review of what agents change. */
  readonly review: ReviewRule | undefined;
  /** Whether its committed settings need a higher format than they have; `Project.initialize` raises it. */
  readonly lacksFormat: boolean;
  bind(binding: Binding): BoundWorkspace;
  /** Reads what the first call needs: the records, and the index that an earlier process has saved. */
  warm(): Promise<void>;
  /**
   * Calls back after records were added, changed or removed, by this process or by others.
   *
   * @returns a function that stops it.
   */
  watch(listener: (paths: readonly string[]) => void): () => void;
  /** Waits for the running change and closes everything. */
  close(): Promise<void>;
}

/** Options for opening a memory. */
export interface WorkspaceOptions {
  /** Absolute real path of an existing folder, or of the user's store, which its first write creates. */
  readonly root: string;
  /** The memory folder: `<root>/.memory-bank`, or the root itself for the user's store. */
  readonly folder: string;
  /** Whether commits go to the repository around the root, or to a separate one at the root. */
  readonly repository: 'enclosing' | 'own';
  /** Every record type of the program, also those of disabled toolsets. */
  readonly records: readonly AnyRecordType[];
  /** Whether the memory is still in that folder; asked before each commit. */
  readonly isCurrent?: (() => boolean) | undefined;
  /** `relaxed` skips the fsyncs. */
  readonly durability: 'full' | 'relaxed';
  /** Returns the current time, strictly increasing. */
  now(): Date;
  /** Opens the embedding model that the user has configured; undefined for none. */
  readonly embedder?: (() => Promise<Embedder>) | undefined;
  /** Receives problems outside a call, for the person who runs the program. */
  warn(message: string): void;
}

/**
 * Opens the memory of a root, and finishes or rolls back the unfinished change of a killed process.
 *
 * It creates nothing. The root need not have a memory or a repository yet.
 *
 * @throws MemoryError `damaged` or `unsupported` if the memory has a newer format or cannot be read.
 */
export type OpenWorkspace = (options: WorkspaceOptions) => Promise<Workspace>;
