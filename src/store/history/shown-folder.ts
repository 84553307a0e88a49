import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { shownTree } from '../layout/layout-trees.ts';
import { folderAt } from './last-change.ts';

/** The tree of a memory folder in a commit, whose logs are single files in every layout. */
export function shownFolder(odb: ObjectDatabase, commit: Oid, path: string): Oid | undefined {
  return shownTree(odb, folderAt(odb, commit, path));
}
