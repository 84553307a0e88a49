import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import type { TreeDifference } from '../../git/objects/tree.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { maxFileBytes } from '../records/record-file.ts';

/** Limit of the files that sync brings into the work tree at once, in bytes. */
export const maxBrought = 256 * 1024 * 1024;

const hint =
  'Make it smaller in the upstream, or run "git pull"; then sync again. Nothing was changed.';

/**
 * Refuses files that are too large, before any of them is read.
 *
 * @param folder the memory folder, in which the size of each file is limited to that of a record.
 * @throws MemoryError `too_large` with the path.
 */
export function checkSizes(
  odb: ObjectDatabase,
  changes: readonly TreeDifference[],
  folder: string,
): void {
  let total = 0;
  for (const { path, before, after } of changes) {
    const isRecord = path.startsWith(`${folder}/`);
    // A merge reads both versions of a record; of any other file only the new version is read.
    for (const entry of isRecord ? [before, after] : [after]) {
      if (!entry) continue;
      const size = odb.size(entry.oid);
      total += size;
      if (isRecord && size > maxFileBytes) throw tooLarge(path, size, maxFileBytes);
      if (total > maxBrought) throw tooLarge(path, size, maxBrought);
    }
  }
}

/** The commits of both sides, and the objects that were here before. */
interface Arrival {
  readonly head: Oid;
  readonly tip: Oid;
  readonly known: ObjectDatabase;
}

/**
 * Refuses files that are too large among objects that were fetched but not stored yet.
 *
 * @throws MemoryError `too_large` with the path.
 */
export function checkArrivals(
  objects: ObjectDatabase,
  { head, tip, known }: Arrival,
  folder: string,
): void {
  const changes = [...differences(objects, treeOf(objects, head), treeOf(objects, tip))].flatMap(
    ({ path, after }) => {
      // A partial clone does not have all objects.
      const isNew = after && !known.has(after.oid) && objects.has(after.oid);
      return isNew ? { path, before: undefined, after } : [];
    },
  );
  checkSizes(objects, changes, folder);
}

function tooLarge(path: string, size: number, limit: number): MemoryError {
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  const message =
    limit === maxFileBytes
      ? `The upstream changes ${path}, which has ${megabytes(size)}; a record has at most ${megabytes(limit)}.`
      : `The upstream changes more than ${megabytes(limit)} at once; the limit is exceeded at ${path}.`;
  return new MemoryError('too_large', message, { hint, data: { path, limit } });
}
