import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { isRefusal } from '../disk/file-system.ts';
import { journalName } from '../locks/process-lock.ts';
import type { Oid } from '../objects/object.ts';
import { wholeOid } from '../objects/object-format.ts';
import type { Reflog } from '../refs/reflog.ts';

/**
 * The plan of a mutation, on disk before the first file of the work tree changes.
 *
 * The file is reused by all mutations of a token and is empty between them: a name that is already on
 * the medium saves each of them a round of fsyncs.
 *
 * After its writer has died, another process can finish or undo the whole mutation: every object that
 * the journal names is stored before anything changes.
 */
export interface Journal {
  /** Token id of the writer; also the end of the journal's file name. */
  readonly token: string;
  /**
   * The work tree and its git directory, relative to the common git directory like all paths here: the
   * process that cleans up may see the repository under another path, as in a container.
   */
  readonly top: string;
  readonly gitDir: string;
  /** Full name of the branch; undefined when HEAD is detached. */
  readonly ref: string | undefined;
  readonly parent: Oid | undefined;
  readonly commit: Oid;
  readonly files: readonly JournalFile[];
  readonly logs: readonly Reflog[];
  /** The text that is appended to each of them. */
  readonly logLines: string;
  /** Folders that the mutation creates, outermost first. */
  readonly folders: readonly string[];
}

interface JournalFile {
  /** Relative to the top of the work tree. */
  readonly path: string;
  readonly before: Oid | undefined;
  readonly after: Oid | undefined;
  /** The blob in the index before; neither of the two if the user has edited the file. */
  readonly indexed: Oid | undefined;
  readonly mode: number;
}

/** The path of a token's journal. */
export function journalPath(folder: string, token: string): string {
  return join(folder, journalName(token));
}

/** The name of a temporary file next to a record, by which recovery finds it. */
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
      // Otherwise the next mutation would assume that its name is on the medium.
      disk.tryDiscard(path);
      throw error;
    }
  }
}

/** Ends a journal by emptying it; if the disk refuses, the next process acts on it. */
export function endJournal(disk: Disk, folder: string, token: string): void {
  const path = journalPath(folder, token);
  try {
    disk.files.truncate(path, 0);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    if (isRefusal(error)) disk.tryDiscard(path);
  }
}

/**
 * Reads a journal; undefined if it is incomplete, because nothing changes before it is complete.
 *
 * @throws MemoryError `damaged` for a complete file that is not a journal.
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
 * Validates a journal. Its files must be in the work tree and its logs among the reflogs, so that
 * recovery never changes another file.
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

/** Validates a path that leads neither out of its folder nor into a git directory. */
function toPath(value: unknown, form?: RegExp): string {
  const path = toText(value, form);
  const parts = path.split(/[/\\]/);
  if (parts.some((part) => /^(?:|\.|\.\.|\.git)$/i.test(part))) throw new TypeError('a way out');
  return path;
}

function toOid(value: unknown): Oid {
  return toText(value, wholeOid);
}

function toText(value: unknown, form = /^/): string {
  if (typeof value !== 'string' || value.includes('\0') || !form.test(value)) {
    throw new TypeError('not a valid text');
  }
  return value;
}

function toNumber(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new TypeError('not a whole number');
  }
  return value;
}

function toList<T>(value: unknown, toItem: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value.map(toItem);
}

function toObject(value: unknown): { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object');
  return { ...value };
}

function optional<T>(value: unknown, to: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : to(value);
}
