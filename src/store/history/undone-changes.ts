import type { CommitInfo } from '../../core/memory/history.ts';
import type { Oid } from '../../git/objects/object.ts';
import { ancestors, ownChanges } from './lineage.ts';
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
  const paths = new Set(visit.changes(source, head, below).map(({ path }) => path));
  if (paths.size === 0) return [];
  const restored = await visit.place(source);
  const { index, number } = await visit.place(head);
  const kept = ancestors(index, restored.number);
  const later = [...ancestors(index, number).entries()].flatMap(([commit, known]) => {
    if (!known || kept[commit] || index.isCut(commit)) return [];
    const isMerge = index.commit(commit).parents.length > 1;
    const changes = isMerge ? [] : ownChanges(index, commit);
    return changes.some(({ path }) => paths.has(path)) ? [commit] : [];
  });
  later.sort((a, b) => index.compare(a, b));
  return Promise.all(later.map((commit) => visit.describe(index.commit(commit).oid)));
}
