import type { AnyRecordType } from '../../core/record/record-type.ts';
import { configPath, configRecord } from '../records/memory-config.ts';
import { decodeText } from '../records/record-file.ts';
import { mapSides, type Sides } from './diff3.ts';
import { type Merged, mergeRecord, type OnConflict } from './record-merge.ts';

/** The merged bytes of one file; undefined for a deleted one. */
export interface MergedFile extends Pick<Merged, 'conflict' | 'notes' | 'fields'> {
  readonly bytes: Buffer | undefined;
}

/**
 * Merges three versions of a file; undefined means no file.
 *
 * Bytes that are not UTF-8 are merged line by line. A binary file is a conflict, and keeps our bytes.
 *
 * @param types all record types.
 * @param path as git names it, relative to the top of the work tree.
 */
export function mergeFile(
  types: readonly AnyRecordType[],
  path: string,
  sides: Sides<Buffer | undefined>,
  onConflict: OnConflict,
): MergedFile {
  // The user's own store is a repository whose top is the memory folder.
  const recordPath = /(?:^|\/)\.memory-bank\/(.*)$/s.exec(path)?.[1] ?? path;
  const type = recordPath === configPath ? configRecord : types.find((one) => one.owns(recordPath));
  const merge = (encoding: 'utf8' | 'latin1', read: (bytes: Buffer) => string) => {
    const texts = mapSides(sides, (bytes) => bytes && read(bytes));
    const typed = encoding === 'utf8' ? type : undefined;
    const { text, ...rest } = mergeRecord(typed, recordPath, texts, onConflict);
    return { ...rest, bytes: text === undefined ? undefined : Buffer.from(text, encoding) };
  };
  const { base, ours, theirs } = sides;
  if (isSame(ours, theirs) || isSame(base, theirs)) return whole(ours);
  if (isSame(base, ours)) return whole(theirs);
  const isBinary = Object.values(sides).some((bytes: Buffer | undefined) => bytes?.includes(0));
  if (isBinary && ours && theirs) {
    const side = typeof onConflict === 'number' ? undefined : onConflict.others;
    if (side) return whole(sides[side]);
    const notes = ['it is a binary file; ours was kept'];
    return { bytes: ours, conflict: true, notes, fields: [] };
  }
  try {
    return merge('utf8', decodeText);
  } catch {
    return merge('latin1', (bytes) => bytes.toString('latin1'));
  }
}

function whole(bytes: Buffer | undefined): MergedFile {
  return { bytes, conflict: false, notes: [], fields: [] };
}

/** Whether two files have the same content, or both are missing. */
export function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}
