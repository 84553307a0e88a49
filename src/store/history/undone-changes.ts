import type { CommitInfo } from '../../core/memory/history.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import { pathChanges } from './change-index.ts';
import type { Visit } from './visit.ts';

/**
 * Lists the commits whose changes a restoration takes back, the newest first.
 *
 * They are in the history of HEAD and not in that of the restored state, and change a record that
 * differs between the two.
 *
 * @param below the record or folder that is restored; undefined for all.
 */
export async function undoneChanges(
  visit: Visit,
  source: Oid,
  head: Oid,
  below: string | undefined,
): Promise<CommitInfo[]> {
  const { odb } = visit.archive.repository;
  const paths = new Set(visit.changes(source, head, below).map(({ path }) => path));
  if (paths.size === 0) return [];
  const later = [...reachableCommits(odb, source, [{ name: 'HEAD', oid: head }]).keys()]
    .map((oid) => ({ oid, commit: parseCommit(odb.content(oid, 'commit')) }))
    .filter(({ oid, commit: { parents } }) => {
      const [parent] = parents;
      const before = parent === undefined ? undefined : visit.archive.tree(parent);
      const changed = pathChanges(odb, before, visit.archive.tree(oid));
      return parents.length < 2 && changed.some(({ path }) => paths.has(path));
    })
    .sort((a, b) => b.commit.committer.seconds - a.commit.committer.seconds);
  return Promise.all(later.map(({ oid }) => visit.describe(oid)));
}
