import { type Oid, parseCommit } from './object.ts';
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
