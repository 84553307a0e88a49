import { isAscii } from 'node:buffer';
import { MemoryError } from '../../core/error.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import type { LoadedFile, Stat } from '../../git/disk/file-layer.ts';
import type { ReadFolder } from '../../git/disk/folder.ts';

/** A file of the bank that is a record of some type, or should be. */
export interface RecordFile {
  /** Relative to the bank. */
  readonly path: string;
  readonly type: AnyRecordType;
  /** When it was last read: its state on disk, and whether a change since would show in that. */
  readonly stat: Stat;
  readonly settled: boolean;
  readonly bytes: number;
  readonly key: string | undefined;
  readonly id: string | undefined;
  /** Undefined when it is damaged, not read, or dropped to save memory. */
  readonly value: object | undefined;
  readonly error: MemoryError | undefined;
}

/** Larger files are named as damaged instead of being read. */
export const maxFileBytes = 16 * 1024 * 1024;
/** A file changed twice within one tick of the file system's clock shows one time for both, in milliseconds. */
const clockTick = 20;
const coarseClockTick = 2000;

/**
 * The record in a file that was just seen, and perhaps read.
 *
 * @param since when it had not been seen yet, as Unix time in milliseconds.
 */
export function readRecord(
  folder: ReadFolder,
  path: string,
  type: AnyRecordType,
  { stat, bytes: loaded }: LoadedFile,
  since: number,
): RecordFile {
  const settled = isSettled(stat, since);
  try {
    const bytes = loaded ?? folder.read(path, maxFileBytes, stat) ?? Buffer.alloc(0);
    const value: object = type.codec.decode(decodeText(bytes), path);
    const [key, id] = [type.key(value), type.id?.(value)];
    return { path, type, stat, settled, bytes: bytes.length, key, id, value, error: undefined };
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { ...failed(path, type, error), stat, settled };
  }
}

/** A file that is not read because of its size. */
export function unopened(
  path: string,
  type: AnyRecordType,
  stat: Stat,
  settled: boolean,
): RecordFile {
  const nothing = { key: undefined, id: undefined, value: undefined, error: undefined };
  return { path, type, stat, settled, bytes: stat.size, ...nothing };
}

/** A file that should be a record and is none. */
export function failed(path: string, type: AnyRecordType, cause: MemoryError): RecordFile {
  const error = new MemoryError(cause.code, `${path}: ${cause.message}`, {
    hint: cause.hint ?? 'Mend the file, or restore it from git; everything else is served.',
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
    value: undefined,
    error,
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of a file.
 *
 * @throws MemoryError `damaged` for bytes that are not UTF-8.
 */
export function decodeText(bytes: Buffer): string {
  try {
    // Most text is, and is copied as it is.
    return isAscii(bytes) ? bytes.toString('latin1') : utf8.decode(bytes);
  } catch {
    throw new MemoryError('damaged', 'the file is not valid UTF-8');
  }
}

/** Whether a change made from a moment on would show in the time of the file or folder. */
export function isSettled(stat: Stat, since: number): boolean {
  const tick = stat.mtimeMs % 1000 === 0 ? coarseClockTick : clockTick;
  return Math.abs(since - stat.mtimeMs) > tick;
}
