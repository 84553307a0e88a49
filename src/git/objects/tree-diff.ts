import type { Oid } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { compareTrees, folderMode, type TreeDifference } from './tree.ts';

/**
 * Lists the files, links and submodules that differ between two trees, sorted by the bytes of their
 * paths. Equal folders are not read.
 *
 * @param before undefined for the empty tree, and so is `after`.
 * @param enters whether the differences below a folder are wanted.
 * @throws MemoryError `damaged` when a tree is not in the repository.
 */
export function* differences(
  odb: ObjectDatabase,
  before: Oid | undefined,
  after: Oid | undefined,
  prefix = '',
  enters: (folder: string) => boolean = everywhere,
): Generator<TreeDifference> {
  if (before === after) return;
  const content = (tree: Oid | undefined) =>
    tree === undefined ? empty : odb.content(tree, 'tree');
  for (const difference of compareTrees(content(before), content(after), odb.format)) {
    const { before: old, after: now } = difference;
    const path = prefix + difference.path;
    // A file and a folder of one name are two entries, so both sides have the same kind.
    const folder = (old ?? now)?.mode === folderMode;
    if (!folder) yield { ...difference, path };
    else if (enters(path)) yield* differences(odb, old?.oid, now?.oid, `${path}/`, enters);
  }
}

const empty = Buffer.alloc(0);
const everywhere = () => true;
