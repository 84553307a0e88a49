import type { AnyRecordType } from '../core/record-type.ts';
import { configPath, configRecord } from './bank-config.ts';
import type { Sides } from './merge/diff3.ts';
import { type Merged, mergeRecord } from './merge/record.ts';
import { decodeText } from './record-file.ts';

/** What became of the bytes of one file. */
export interface MergedFile extends Pick<Merged, 'conflict' | 'notes'> {
  readonly bytes: Buffer;
}

/**
 * Merges three versions of a file, as git hands them to a merge driver.
 *
 * Bytes that are not UTF-8 are merged line by line; of a binary file ours stays, as a conflict.
 *
 * @param types every record type there is.
 * @param path as git names it, relative to the top of the work tree.
 * @param sides an empty base stands for none: both sides added the file.
 * @param markerSize of the conflict markers, in characters.
 */
export function mergeFile(
  types: readonly AnyRecordType[],
  path: string,
  sides: Sides<Buffer>,
  markerSize: number,
): MergedFile {
  if (Object.values(sides).some((bytes: Buffer) => bytes.includes(0))) {
    const notes = ['it is a binary file; ours was kept'];
    return { bytes: sides.ours, conflict: true, notes };
  }
  // The user's own store is a repository whose top is the bank.
  const place = /(?:^|\/)\.memory-bank\/(.*)$/s.exec(path)?.[1] ?? path;
  const type = place === configPath ? configRecord : types.find((one) => one.owns(place));
  const merge = (encoding: 'utf8' | 'latin1', read: (bytes: Buffer) => string) => {
    const base = sides.base.length === 0 ? undefined : read(sides.base);
    const texts = { base, ours: read(sides.ours), theirs: read(sides.theirs) };
    const typed = encoding === 'utf8' ? type : undefined;
    const { text = '', ...rest } = mergeRecord(typed, place, texts, markerSize);
    return { ...rest, bytes: Buffer.from(text, encoding) };
  };
  try {
    return merge('utf8', decodeText);
  } catch {
    return merge('latin1', (bytes) => bytes.toString('latin1'));
  }
}
