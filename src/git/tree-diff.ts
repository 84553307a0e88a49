import type { Oid } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { folderMode, listTree, type TreeEntry } from './tree.ts';

/** A file, link or submodule that two trees do not have in common. */
export interface TreeDifference {
  readonly path: string;
  /** Undefined where the tree has none at this path. */
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

/**
 * What differs between two trees, folder by folder, by name; folders that are the same are not read.
 *
 * @param before undefined for the empty tree, and so is `after`.
 * @throws MemoryError `damaged` when a tree is not in the repository.
 */
export function* differences(
  odb: ObjectDatabase,
  before: Oid | undefined,
  after: Oid | undefined,
  prefix = '',
): Generator<TreeDifference> {
  if (before === after) return;
  const old = entriesOf(odb, before);
  const now = entriesOf(odb, after);
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const a = old.get(name);
    const b = now.get(name);
    if (a?.oid === b?.oid && a?.mode === b?.mode) continue;
    const path = prefix + name;
    if (isFolder(a) || isFolder(b)) {
      yield* differences(odb, folderOf(a), folderOf(b), `${path}/`);
    }
    const [file, other] = [fileOf(a), fileOf(b)];
    if (file ?? other) yield { path, before: file, after: other };
  }
}

function entriesOf(odb: ObjectDatabase, tree: Oid | undefined): Map<string, TreeEntry> {
  if (tree === undefined) return new Map();
  return new Map(listTree(odb.content(tree, 'tree')).map((entry) => [entry.name, entry]));
}

function isFolder(entry: TreeEntry | undefined): boolean {
  return entry?.mode === folderMode;
}

function folderOf(entry: TreeEntry | undefined): Oid | undefined {
  return isFolder(entry) ? entry?.oid : undefined;
}

function fileOf(entry: TreeEntry | undefined): TreeEntry | undefined {
  return isFolder(entry) ? undefined : entry;
}
