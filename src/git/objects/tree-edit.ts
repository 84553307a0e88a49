import type { Oid } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { findEntry, folderMode, spliceTree, type TreeEntry } from './tree.ts';

/**
 * The tree with another entry at a path; undefined where nothing is left in it.
 *
 * @param add gets each new tree, and returns its id.
 */
export function withEntry(
  odb: Pick<ObjectDatabase, 'content' | 'format'>,
  tree: Oid | undefined,
  path: readonly string[],
  entry: TreeEntry | undefined,
  add: (tree: Buffer) => Oid,
): Oid | undefined {
  const [name = '', ...below] = path;
  const bytes = tree === undefined ? Buffer.alloc(0) : odb.content(tree, 'tree');
  let next = entry;
  if (below.length > 0) {
    const folder = findEntry(bytes, name, odb.format);
    const inside = folder?.mode === folderMode ? folder.oid : undefined;
    const oid = withEntry(odb, inside, below, entry, add);
    next = oid === undefined ? undefined : { mode: folderMode, oid };
  }
  const spliced = spliceTree(bytes, [[name, next]], odb.format);
  return spliced.length === 0 ? undefined : add(spliced);
}
