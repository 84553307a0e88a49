import { isAscii } from 'node:buffer';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { LoadedFile, Stat } from '../../git/disk/file-layer.ts';
import type { ReadFolder } from '../../git/disk/folder.ts';

/** A file of the memory folder that is a record of some type, or should be one. */
export interface RecordFile {
  /** Relative to the memory folder. */
  readonly path: string;
  readonly type: AnyRecordType;
  /** The stat when the file was last read. */
  readonly stat: Stat;
  /** Whether every later change of the file also changes its stat. */
  readonly settled: boolean;
  readonly bytes: number;
  readonly key: string | undefined;
  readonly id: string | undefined;
  /** When the record was created, as Unix time in milliseconds, for types that have this time. */
  readonly created: number | undefined;
  /** Undefined if the record is damaged, not read, or evicted to save memory. */
  readonly value: object | undefined;
  readonly error: MemoryError | undefined;
  /** Its row in `SavedRecords`, if the file has not changed since it was saved. */
  readonly row?: number;
}

/** Size limit of a file that is read, in bytes; a larger one is reported as an error. */
export const maxFileBytes = 16 * 1024 * 1024;
/** Time within which two changes of a file may get the same timestamp, in milliseconds. */
const clockTick = 20;
/** The same for a file system that keeps whole seconds. */
const coarseClockTick = 2000;

/**
 * Decodes the record in a file whose stat was just taken; reads the file unless it was loaded with it.
 *
 * @param since a time before the stat was taken, as Unix time in milliseconds.
 */
export function readRecord(
  folder: ReadFolder,
  path: string,
  type: AnyRecordType,
  { stat, bytes: loaded, text }: LoadedFile,
  since: number,
): RecordFile {
  const settled = isSettled(stat, since);
  try {
    const bytes = loaded ?? folder.read(path, maxFileBytes, stat) ?? Buffer.alloc(0);
    const value: object = type.codec.decode(text ?? decodeText(bytes), path);
    const [key, id] = [type.key(value), type.id?.(value)];
    const created = type.created && Date.parse(type.created(value));
    const names = { key, id, created };
    return { path, type, stat, settled, bytes: bytes.length, ...names, value, error: undefined };
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { ...failed(path, type, error), stat, settled };
  }
}

/** Describes a file that is not read because of its size. */
export function unopened(
  path: string,
  type: AnyRecordType,
  stat: Stat,
  settled: boolean,
): RecordFile {
  const nothing = { key: undefined, id: undefined, created: undefined, value: undefined };
  return { path, type, stat, settled, bytes: stat.size, ...nothing, error: undefined };
}

const repairHint = 'Fix the file, or restore it from git; all other records are available.';
/** A conflict that is committed, or staged as resolved, has to be resolved by hand. */
export const mergeHint =
  'resolve_conflicts merges it while git lists it as unmerged; otherwise fix the file, or restore it from git.';

/** Describes a file that should be a record but cannot be read as one. */
export function failed(path: string, type: AnyRecordType, cause: MemoryError): RecordFile {
  const error = new MemoryError(cause.code, `${path}: ${cause.message}`, {
    hint: cause.hint ?? (cause.code === 'conflict' ? mergeHint : repairHint),
    data: { ...cause.data, path },
    cause,
  });
  return {
    path,
    type,
    stat: { kind: 'other', size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, mode: 0, links: 0 },
    settled: false,
    bytes: 0,
    key: undefined,
    id: undefined,
    created: undefined,
    value: undefined,
    error,
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes the bytes of a file.
 *
 * @param path of a record that is to be replaced, for the error.
 * @throws MemoryError `damaged` for bytes that are not UTF-8.
 */
export function decodeText(bytes: Buffer, path?: string): string {
  try {
    // Most text is ASCII, for which this is faster.
    return isAscii(bytes) ? bytes.toString('latin1') : utf8.decode(bytes);
  } catch {
    if (path === undefined) throw new MemoryError('damaged', 'the file is not valid UTF-8');
    throw new MemoryError('damaged', `${path} is not valid UTF-8, so a commit cannot keep it.`, {
      hint: 'Move the file away, then try again.',
      data: { path },
    });
  }
}

/** Whether every change after a time also changes the timestamp of the file or folder. */
export function isSettled(stat: Stat, since: number): boolean {
  const tick = stat.mtimeMs % 1000 === 0 ? coarseClockTick : clockTick;
  // Reading can take long: the file may also have changed after it began. A time to come never ends.
  return stat.mtimeMs < since - tick || stat.mtimeMs > Date.now() + tick;
}
