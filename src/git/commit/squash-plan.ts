import { encodeObject, formatCommit, type Oid, type Signature } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { treeOf } from '../objects/odb.ts';
import type { Head } from '../refs/refs.ts';
import type { CommitPlan } from './commit-plan.ts';

/** The request to replace the last commits up to HEAD by one commit with the same tree. */
export interface Squash {
  /** The commit below the first of them, which stays. */
  readonly onto: Oid;
  readonly author: Signature;
  /** The whole message of the commit, subject first. */
  readonly message: string;
  /** The message in the reflogs. */
  readonly log: string;
}

/** Plans the commit; files and index stay unchanged. */
export function planSquash(
  odb: ObjectDatabase,
  head: Head,
  { onto, author, message, log }: Squash,
  committer: Signature,
): CommitPlan {
  const tree = treeOf(odb, head.oid ?? onto);
  const content = formatCommit({ tree, parents: [onto], author, committer, message });
  const object = encodeObject('commit', content);
  const commits = [{ oid: object.oid, before: head.oid, log }];
  return { head, files: [], commits, objects: [object], trees: [] };
}
