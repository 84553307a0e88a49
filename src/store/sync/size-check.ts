import { MemoryError } from '../../core/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import type { TreeDifference } from '../../git/objects/tree.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { maxFileBytes } from '../records/record-file.ts';

/** Limit of the files that sync brings into the work tree at once, in bytes. */
export const maxBrought = 256 * 1024 * 1024;

const hint =
  'Make it smaller in the upstream, or bring it by "git pull", then sync again. Nothing was changed.';

/**
 * Refuses files that are too large, before any of them is read.
 *
 * @param folder the memory, in which each file is one that has to fit into a record.
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
    // Both sides of a record are read to merge it; of other files the new side alone is.
    for (const entry of isRecord ? [before, after] : [after]) {
      if (!entry) continue;
      const size = odb.size(entry.oid);
      total += size;
      if (isRecord && size > maxFileBytes) throw tooLarge(path, size, maxFileBytes);
      if (total > maxBrought) throw tooLarge(path, size, maxBrought);
    }
  }
}

/** The commits of a branch here and there, and the objects that were here before. */
interface Arrival {
  readonly head: Oid;
  readonly tip: Oid;
  readonly known: ObjectDatabase;
}

/**
 * Refuses the same in what has just arrived from a remote and is not kept yet.
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
      // Of a partial clone only what arrives is there.
      const isNew = after && !known.has(after.oid) && objects.has(after.oid);
      return isNew ? { path, before: undefined, after } : [];
    },
  );
  checkSizes(objects, changes, folder);
}

function tooLarge(path: string, size: number, limit: number): MemoryError {
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  const what =
    limit === maxFileBytes
      ? `The upstream changes ${path}, which holds ${megabytes(size)}; a record holds at most ${megabytes(limit)}.`
      : `The upstream brings more than ${megabytes(limit)} at once, up to ${path}.`;
  return new MemoryError('too_large', what, { hint, data: { path, limit } });
}
