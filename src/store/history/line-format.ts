import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { configPath } from '../records/memory-config.ts';
import { checkWritten, type FormatHeader, headerCodec } from '../records/memory-format.ts';
import { decodeText } from '../records/record-file.ts';
import { entryAt } from './last-change.ts';

/**
 * Refuses to merge a line of history whose memory has a later format; see `checkWritten`.
 *
 * @param folder of the memory in the work tree; empty for its top.
 */
export function checkLineFormat(odb: ObjectDatabase, commit: Oid, folder: string): void {
  const entry = entryAt(odb, commit, `${folder}/${configPath}`);
  if (entry) checkTextFormat(odb.content(entry.oid, 'blob'));
}

/** Refuses settings of a later format. Damaged settings are left to others. */
export function checkTextFormat(settings: Buffer): void {
  let header: FormatHeader;
  try {
    header = headerCodec.decode(decodeText(settings), configPath);
  } catch (error) {
    if (error instanceof MemoryError) return;
    throw error;
  }
  checkWritten(header);
}
