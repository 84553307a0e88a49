import type { ListOptions } from '../../core/memory/listing.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { LiveRecords } from './live-records.ts';
import { failed, type RecordFile } from './record-file.ts';
import type { Steps } from './slices.ts';

/** Limit of the total size of the files in one list: all their values are in memory at once. */
export const maxListedBytes = 128 * 1024 * 1024;
/** Larger files are read after all others, the smallest of them first. */
const smallBytes = 64 * 1024;

/**
 * Lists the record files of a type by path, up to a total size.
 *
 * The largest files beyond that size are not read; they have the error `too_large`.
 */
export function* boundedListing(
  view: LiveRecords,
  type: AnyRecordType,
  options: ListOptions,
): Steps<RecordFile[]> {
  const found: RecordFile[] = [];
  const large: RecordFile[] = [];
  let room = maxListedBytes;
  for (const path of yield* view.selecting(type, options)) {
    const file = view.known(path, Math.min(smallBytes, room));
    if (file?.value || file?.error) {
      found.push(file);
      room -= file.value ? file.bytes : 0;
    } else if (file) large.push(file);
    yield;
  }
  if (large.length === 0) return found;
  for (const { path, bytes } of large.sort((a, b) => a.bytes - b.bytes)) {
    const file = bytes > room ? failed(path, type, unlisted(bytes)) : view.known(path, room);
    if (file?.value || file?.error) found.push(file);
    room -= file?.value ? file.bytes : 0;
    yield;
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function unlisted(bytes: number): MemoryError {
  const reason = `more than is left of the ${maxListedBytes} bytes that fit into one list`;
  return new MemoryError('too_large', `the file has ${bytes} bytes, ${reason}`, {
    hint: 'Request the record by its name, or split the large files.',
    data: { size: bytes, limit: maxListedBytes },
  });
}
