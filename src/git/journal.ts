import { join } from 'node:path';
import type { Disk } from './disk.ts';
import type { Oid } from './object.ts';

/**
 * What a mutation is about to do, on disk before the first file of the work tree changes.
 *
 * Whoever finds it after its writer's death can finish or undo all of it: once anything has been done
 * every object that it names is stored.
 */
export interface Journal {
  /** Of the writer; also the end of the journal's own name. */
  readonly token: string;
  /**
   * The work tree and its git directory, relative to the common git directory, as all folders and
   * logs here: whoever cleans up may find the repository at another place, as in a container.
   */
  readonly top: string;
  readonly gitDir: string;
  /** Full name of the branch; undefined when HEAD is detached. */
  readonly ref: string | undefined;
  readonly parent: Oid | undefined;
  readonly commit: Oid;
  readonly files: readonly JournalFile[];
  readonly logs: readonly Reflog[];
  /** What is appended to each of them. */
  readonly logLines: string;
  /** Folders that the mutation makes, outermost first. */
  readonly folders: readonly string[];
}

export interface JournalFile {
  /** Relative to the top of the work tree. */
  readonly path: string;
  readonly before: Oid | undefined;
  readonly after: Oid | undefined;
  /** What the index had, which is neither where a person has edited the file. */
  readonly indexed: Oid | undefined;
  readonly mode: number;
}

/** A reflog, and its length before the mutation; undefined for one that did not exist. */
export interface Reflog {
  readonly path: string;
  readonly size: number | undefined;
}

/** Where the journal of a token lies. */
export function journalPath(folder: string, token: string): string {
  return join(folder, `journal-${token}`);
}

/** The name of the temporary file beside a record, so that recovery knows it. */
export function temporaryName(token: string, i: number): string {
  return `.memory-bank-${token}-${i}.tmp`;
}

export async function writeJournal(disk: Disk, folder: string, journal: Journal): Promise<void> {
  const text = JSON.stringify(journal);
  await disk.create(journalPath(folder, journal.token), [Buffer.from(`${text}\n`)], 0o600);
  await disk.settle([folder]);
}

/** Reads a journal; undefined for one that was not written to its end, before which nothing happened. */
export function readJournal(disk: Disk, path: string): Journal | undefined {
  const text = disk.files.read(path)?.toString('utf8') ?? '';
  if (!text.endsWith('}\n')) return undefined;
  try {
    return JSON.parse(text) as Journal;
  } catch {
    return undefined;
  }
}
