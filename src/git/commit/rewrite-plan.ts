import { type EncodedObject, formatCommit, type Oid, type Signature } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { treeOf } from '../objects/odb.ts';
import { findEntry, folderMode, type TreeEntry } from '../objects/tree.ts';
import { withEntry } from '../objects/tree-edit.ts';
import type { Head } from '../refs/refs.ts';
import type { CommitPlan } from './commit-plan.ts';
import { signedOff } from './sign-off.ts';

/** The request to replace the last commits of HEAD by others; the last one has the same tree. */
export interface Rewrite {
  /** The commit below the first new one, which stays; undefined if the first new one has no parent. */
  readonly onto: Oid | undefined;
  /** The folder of the memory, relative to the top of the work tree; empty for the whole tree. */
  readonly folder: string;
  /** The new commits, oldest first. */
  readonly rebuilt: readonly Rebuilt[];
  /** The message in the reflogs. */
  readonly log: string;
}

/** A new commit; its files are those of old commits. */
export interface Rebuilt {
  /** The commit that has its files outside the folder; undefined for none. */
  readonly files: Oid | undefined;
  /** The commit that has its files in the folder; undefined for none. */
  readonly folder: Oid | undefined;
  readonly author: Signature;
  /** Undefined for the user, now. */
  readonly committer?: Signature | undefined;
  /** The whole message, subject first. */
  readonly message: string;
}

/**
 * Plans the commits; files and index stay unchanged.
 *
 * @param signOff whether the user signs off the commits that are new.
 */
export function planRewrite(
  odb: ObjectDatabase,
  head: Head,
  { onto, folder, rebuilt, log }: Rewrite,
  user: Signature,
  signOff = false,
): CommitPlan {
  const objects: EncodedObject[] = [];
  const add = (type: 'commit' | 'tree', content: Buffer): Oid => {
    const object = odb.encode(type, content);
    objects.push(object);
    return object.oid;
  };
  const path = folder.split('/');
  const treeFor = ({ files, folder }: Rebuilt): Oid => {
    const base = files === undefined ? undefined : treeOf(odb, files);
    if (base !== undefined && files === folder) return base;
    const entry = folder === undefined ? undefined : entryBelow(odb, treeOf(odb, folder), path);
    const tree = withEntry(odb, base, path, entry, (content) => add('tree', content));
    return tree ?? add('tree', Buffer.alloc(0));
  };
  let tip = onto;
  let last: Oid | undefined;
  for (const next of rebuilt) {
    const { author, committer = user } = next;
    // The user signs off only what is the user's own.
    const message = signOff && !next.committer ? signedOff(next.message, user) : next.message;
    last = treeFor(next);
    const parents = tip === undefined ? [] : [tip];
    tip = add('commit', formatCommit({ tree: last, parents, author, committer, message }));
  }
  if (tip === undefined || head.oid === undefined || last !== treeOf(odb, head.oid)) {
    throw new Error('A rewrite must keep the tree of HEAD.');
  }
  const commits = [{ oid: tip, before: head.oid, log }];
  return { head, files: [], commits, proposed: [0], objects, trees: [] };
}

function entryBelow(
  odb: ObjectDatabase,
  tree: Oid,
  path: readonly string[],
): TreeEntry | undefined {
  const [name = '', ...below] = path;
  const entry = findEntry(odb.content(tree, 'tree'), name, odb.format);
  if (below.length === 0 || entry?.mode !== folderMode) return entry;
  return entryBelow(odb, entry.oid, below);
}
