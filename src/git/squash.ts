import { encodeObject, formatCommit, type Oid, type Signature } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { type Plan, treeOf } from './plan.ts';
import type { Head } from './refs.ts';

/** Commits in a row that become one with the state of the last. */
export interface Squash {
  /** The last of them, at which HEAD has to be. */
  readonly tip: Oid;
  /** The commit below the first of them, which stays. */
  readonly onto: Oid;
  readonly author: Signature;
  /** The whole message of the commit, subject first. */
  readonly message: string;
  /** What the reflog says, on one line. */
  readonly note: string;
}

/** Works out the one commit; undefined where HEAD has moved since. */
export function planSquash(
  odb: ObjectDatabase,
  head: Head,
  { tip, onto, author, message, note }: Squash,
  committer: Signature,
): Plan | undefined {
  if (head.oid !== tip) return undefined;
  const content = { tree: treeOf(odb, tip), parents: [onto], author, committer, message };
  const object = encodeObject('commit', formatCommit(content));
  const commits = [{ oid: object.oid, before: tip, note }];
  return { head, files: [], commits, objects: [object], trees: [] };
}
