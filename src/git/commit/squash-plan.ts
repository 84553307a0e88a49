import {
  type EncodedObject,
  encodeObject,
  formatCommit,
  type Oid,
  parseCommit,
  type Signature,
} from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { treeOf } from '../objects/odb.ts';
import { findEntry, folderMode, spliceTree, type TreeEntry } from '../objects/tree.ts';
import type { Head } from '../refs/refs.ts';
import type { CommitPlan } from './commit-plan.ts';

/** The request to replace the commits of a folder by one commit with the tree of the newest of them. */
export interface Squash {
  /** The commit below the first of them, which stays. */
  readonly onto: Oid;
  /** The newest of them. */
  readonly newest: Oid;
  /** The folder, relative to the top of the work tree; empty for the whole tree. */
  readonly folder: string;
  /**
   * The commits between them that change only other files, oldest first. They are rebuilt below the
   * new commit, each with the folder as `onto` has it.
   */
  readonly below: readonly Oid[];
  /** The commits above the newest of them, up to HEAD, oldest first. They keep their trees. */
  readonly above: readonly Oid[];
  readonly author: Signature;
  /** The whole message of the commit, subject first. */
  readonly message: string;
  /** The message in the reflogs. */
  readonly log: string;
}

/** Plans the commits; files and index stay unchanged. */
export function planSquash(
  odb: ObjectDatabase,
  head: Head,
  { onto, newest, folder, below, above, author, message, log }: Squash,
  committer: Signature,
): CommitPlan {
  const objects: EncodedObject[] = [];
  const add = (type: 'commit' | 'tree', content: Buffer): Oid => {
    const object = encodeObject(type, content);
    objects.push(object);
    return object.oid;
  };
  const path = folder.split('/');
  const kept = below.length === 0 ? undefined : entryBelow(odb, treeOf(odb, onto), path);
  let tip = onto;
  for (const oid of below) {
    const commit = parseCommit(odb.content(oid, 'commit'));
    const tree =
      withEntry(odb, commit.tree, path, kept, (content) => add('tree', content)) ??
      add('tree', Buffer.alloc(0));
    tip = add('commit', formatCommit({ ...commit, tree, parents: [tip] }));
  }
  const tree = treeOf(odb, newest);
  tip = add('commit', formatCommit({ tree, parents: [tip], author, committer, message }));
  for (const oid of above) {
    const commit = parseCommit(odb.content(oid, 'commit'));
    tip = add('commit', formatCommit({ ...commit, parents: [tip] }));
  }
  return { head, files: [], commits: [{ oid: tip, before: head.oid, log }], objects, trees: [] };
}

function entryBelow(
  odb: ObjectDatabase,
  tree: Oid,
  path: readonly string[],
): TreeEntry | undefined {
  const [name = '', ...below] = path;
  const entry = findEntry(odb.content(tree, 'tree'), name);
  if (below.length === 0 || entry?.mode !== folderMode) return entry;
  return entryBelow(odb, entry.oid, below);
}

/** The tree with another entry at a path; undefined where nothing is left in it. */
function withEntry(
  odb: ObjectDatabase,
  tree: Oid | undefined,
  path: readonly string[],
  entry: TreeEntry | undefined,
  add: (tree: Buffer) => Oid,
): Oid | undefined {
  const [name = '', ...below] = path;
  const bytes = tree === undefined ? Buffer.alloc(0) : odb.content(tree, 'tree');
  let next = entry;
  if (below.length > 0) {
    const folder = findEntry(bytes, name);
    const inside = folder?.mode === folderMode ? folder.oid : undefined;
    const oid = withEntry(odb, inside, below, entry, add);
    next = oid === undefined ? undefined : { mode: folderMode, oid };
  }
  const spliced = spliceTree(bytes, [[name, next]]);
  return spliced.length === 0 ? undefined : add(spliced);
}
