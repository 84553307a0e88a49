import { join } from 'node:path';
import { MemoryError } from '../../core/error.ts';
import type { Disk } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { journalName } from '../locks/process-lock.ts';
import type { Oid } from '../objects/object.ts';
import type { Reflog } from '../refs/reflog.ts';

/**
 * What a mutation is about to do, on disk before the first file of the work tree changes.
 *
 * Its file stays for all mutations of a token, empty in between: a name that is on the medium already
 * saves each of them a round of fsyncs.
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

/** Where the journal of a token lies. */
export function journalPath(folder: string, token: string): string {
  return join(folder, journalName(token));
}

/** The name of a temporary file beside a record, so that recovery knows it. */
export function temporaryName(token: string, i: number): string {
  return `.memory-bank-${token}-${i}.tmp`;
}

/** Writes a journal. */
export async function writeJournal(disk: Disk, folder: string, journal: Journal): Promise<void> {
  const path = journalPath(folder, journal.token);
  const bytes = [Buffer.from(`${JSON.stringify(journal)}\n`)];
  try {
    await disk.fill(path, bytes);
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error;
    await disk.create(path, bytes, 0o600);
    try {
      await disk.settle([folder]);
    } catch (error) {
      // The next mutation would take its name to be on the medium.
      disk.tryDiscard(path);
      throw error;
    }
  }
}

/** Says that what a journal speaks of is over; where the disk does not let us, whoever comes next sees it. */
export function endJournal(disk: Disk, folder: string, token: string): void {
  try {
    disk.files.truncate(journalPath(folder, token), 0);
  } catch (error) {
    if (errno(error) === undefined) throw error;
  }
}

/**
 * Reads a journal; undefined for one that was not written to its end, before which nothing happened.
 *
 * @throws MemoryError `damaged` for a whole file that no mutation has written.
 */
export function readJournal(disk: Disk, path: string): Journal | undefined {
  const text = disk.files.read(path)?.toString('utf8') ?? '';
  if (!text.endsWith('}\n')) return undefined;
  try {
    return toJournal(JSON.parse(text));
  } catch (cause) {
    throw new MemoryError('damaged', `The journal ${path} cannot be read.`, { cause });
  }
}

/**
 * The journal that a value is. The files that it names lie in the work tree and its logs among the
 * reflogs, so that nobody who acts on it is led elsewhere.
 *
 * @throws TypeError for any other value.
 */
export function toJournal(value: unknown): Journal {
  const { token, top, gitDir, ref, parent, commit, files, logs, logLines, folders } =
    toObject(value);
  return {
    token: toText(token, /^[0-9a-z]+-[0-9a-f]{16}$/),
    top: toText(top),
    gitDir: toText(gitDir, /^(?:worktrees[/\\](?!\.{1,2}$)[^/\\]+)?$/),
    ref: optional(ref, (name) => toText(name, /^refs\/./)),
    parent: optional(parent, toOid),
    commit: toOid(commit),
    files: toList(files, toJournalFile),
    logs: toList(logs, (log) => {
      const { path, size } = toObject(log);
      return { path: toPath(path, logsFolder), size: optional(size, toNumber) };
    }),
    logLines: toText(logLines),
    folders: toList(folders, (folder) => toPath(folder)),
  };
}

const logsFolder = /^(?:worktrees[/\\][^/\\]+[/\\])?logs[/\\]/;

function toJournalFile(value: unknown): JournalFile {
  const { path, before, after, indexed, mode } = toObject(value);
  return {
    path: toPath(path),
    before: optional(before, toOid),
    after: optional(after, toOid),
    indexed: optional(indexed, toOid),
    mode: toNumber(mode),
  };
}

/** A path that leads neither out of its folder nor into a git directory. */
function toPath(value: unknown, form?: RegExp): string {
  const path = toText(value, form);
  const parts = path.split(/[/\\]/);
  if (parts.some((part) => /^(?:|\.|\.\.|\.git)$/i.test(part))) throw new TypeError('a way out');
  return path;
}

function toOid(value: unknown): Oid {
  return toText(value, /^[0-9a-f]{40}$/);
}

function toText(value: unknown, form = /^/): string {
  if (typeof value !== 'string' || value.includes('\0') || !form.test(value)) {
    throw new TypeError('no such text');
  }
  return value;
}

function toNumber(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new TypeError('no whole number');
  }
  return value;
}

function toList<T>(value: unknown, toItem: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new TypeError('no list');
  return value.map(toItem);
}

function toObject(value: unknown): { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null) throw new TypeError('no object');
  return { ...value };
}

function optional<T>(value: unknown, to: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : to(value);
}
