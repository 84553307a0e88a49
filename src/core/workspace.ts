import type { Modes, Project } from './context.ts';
import type { CommitMade, History } from './history.ts';
import type { AnyRecordType } from './record-type.ts';
import type { Session } from './session.ts';
import type { Store } from './store.ts';

/** Whose call it is that reads and changes records. */
export interface Binding {
  readonly session: Session;
  /** The tool's wire name, for the commit's `Memory-Tool`. */
  readonly tool: string;
  readonly signal: AbortSignal;
  /** Told of each commit, once it is on disk. */
  onCommit(commit: CommitMade): void;
  /** Told how far long work has come. */
  progress(done: number, total: number, message: string): void;
}

/** What a bound call can reach. */
export interface BoundWorkspace {
  readonly store: Store;
  readonly project: Project;
  readonly modes: Modes;
  readonly history: History;
}

/** The memory of one root on disk, shared by all sessions that use it. */
export interface Workspace {
  /** Absolute path of the folder that holds the bank. */
  readonly root: string;
  bind(binding: Binding): BoundWorkspace;
  /**
   * Calls back after records were added, changed or removed, by this process or by others.
   *
   * @returns how to stop it.
   */
  watch(listener: (paths: readonly string[]) => void): () => void;
  /** Waits for the change under way and lets go of everything. */
  close(): Promise<void>;
}

/** Which memory to open, and how. */
export interface WorkspaceOptions {
  /** Absolute real path of an existing folder, or of the home store, which its first write creates. */
  readonly root: string;
  /** Where the records lie: `<root>/.memory-bank`, or in the home store the root itself. */
  readonly folder: string;
  /** Whether the commits go to the repository around the root, or to one of its own at the root. */
  readonly repository: 'enclosing' | 'own';
  /** Every record type of the program, the ones of toolsets that are switched off included. */
  readonly records: readonly AnyRecordType[];
  /** `relaxed` leaves out the fsyncs. */
  readonly durability: 'full' | 'relaxed';
  /** The present time, strictly increasing. */
  now(): Date;
  /** Told of what went wrong beside a call, for the person who runs the program. */
  warn(message: string): void;
}

/**
 * Opens the memory of a root and finishes or rolls back what a killed process left half done.
 *
 * It creates nothing, and works on a root that has no memory and no repository yet.
 *
 * @throws MemoryError `damaged` or `unsupported` when the bank has a newer format or cannot be read.
 */
export type OpenWorkspace = (options: WorkspaceOptions) => Promise<Workspace>;
