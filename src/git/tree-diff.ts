import { type Oid, parseCommit } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { compareTrees, folderMode, listTree, type TreeDifference, type TreeEntry } from './tree.ts';

/**
 * The files, links and submodules in which two trees differ, sorted by path, byte for byte; folders
 * that are the same are not read.
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
  const content = (tree: Oid | undefined) =>
    tree === undefined ? empty : odb.content(tree, 'tree');
  for (const difference of compareTrees(content(before), content(after))) {
    const { before: old, after: now } = difference;
    const path = prefix + difference.path;
    // A file and a folder of one name have two places, so that both sides are of one kind.
    const folder = (old ?? now)?.mode === folderMode;
    if (folder) yield* differences(odb, old?.oid, now?.oid, `${path}/`);
    else yield { ...difference, path };
  }
}

const empty = Buffer.alloc(0);

function entriesOf(odb: ObjectDatabase, tree: Oid | undefined): Map<string, TreeEntry> {
  if (tree === undefined) return new Map();
  return new Map(listTree(odb.content(tree, 'tree')).map((entry) => [entry.name, entry]));
}

function isFolder(entry: TreeEntry | undefined): boolean {
  return entry?.mode === folderMode;
}

/**
 * The objects that commits bring, each once: themselves, and the trees and files that they have where
 * their parents have something else.
 *
 * @throws MemoryError `damaged` when one is not in the repository.
 */
export function newObjects(odb: ObjectDatabase, commits: readonly Oid[]): Set<Oid> {
  const found = new Set<Oid>();
  const add = (tree: Oid, before: readonly Oid[]) => {
    if (found.has(tree) || before.includes(tree)) return;
    found.add(tree);
    const old = before.map((one) => entriesOf(odb, one));
    for (const [name, entry] of entriesOf(odb, tree)) {
      const there = old.flatMap((entries) => entries.get(name) ?? []);
      if (isFolder(entry))
        add(
          entry.oid,
          there.filter(isFolder).map(({ oid }) => oid),
        );
      // A submodule's commit is in another repository.
      else if (entry.mode !== '160000' && !there.some(({ oid }) => oid === entry.oid)) {
        found.add(entry.oid);
      }
    }
  };
  for (const oid of commits) {
    const { tree, parents } = parseCommit(odb.content(oid, 'commit'));
    found.add(oid);
    add(
      tree,
      parents
        .filter((parent) => odb.has(parent))
        .map((parent) => parseCommit(odb.content(parent, 'commit')).tree),
    );
  }
  return found;
}
