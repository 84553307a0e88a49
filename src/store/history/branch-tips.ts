import type { BranchInfo } from '../../core/memory/history.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { pairMoves } from './comparison.ts';
import { ancestors, ownChanges } from './lineage.ts';
import type { Visit } from './visit.ts';

const prefix = 'refs/heads/';

/** The local branches, and how their memory differs from that of HEAD; see `History`. */
export async function branches(
  visit: Visit,
  limit: number,
  skip: number,
): Promise<{ readonly branches: readonly BranchInfo[]; readonly total: number }> {
  const { archive } = visit;
  const { refs, odb } = archive.repository;
  const head = refs.head();
  const timeOf = (oid: Oid) => parseCommit(odb.content(oid, 'commit')).committer.seconds;
  const all = refs
    .list(prefix)
    // Next to a memory on branches of its own, the branches of the code have none.
    .filter(({ oid }) => !archive.memory.isApart || archive.tree(oid) !== undefined)
    .map(({ ref, oid }) => ({ ref, oid, current: ref === head.ref, time: timeOf(oid) }))
    .sort((a, b) => Number(b.current) - Number(a.current) || b.time - a.time);
  const found: BranchInfo[] = [];
  for (const { ref, oid, current } of all.slice(skip, skip + limit)) {
    const differences =
      head.oid === undefined ? unrelated : await compareTips(visit, head.oid, oid);
    const commit = await visit.describe(oid);
    found.push({ name: ref.slice(prefix.length), current, commit, ...differences });
  }
  return { branches: found, total: all.length };
}

const unrelated = { ahead: 0, behind: 0, unrelated: true, changes: [] };

async function compareTips(visit: Visit, head: Oid, tip: Oid) {
  const here = await visit.place(head);
  const { index, number } = await visit.place(tip);
  const ours = ancestors(index, here.number);
  const theirs = ancestors(index, number);
  const touchesMemory = (commit: number) =>
    ownChanges(index, commit).some(({ path }) => visit.mayRead(path));
  const only = (side: readonly unknown[], other: readonly unknown[]) =>
    [...side.keys()].filter((commit) => side[commit] && !other[commit] && touchesMemory(commit));
  return {
    ahead: only(theirs, ours).length,
    behind: only(ours, theirs).length,
    unrelated: !theirs.some((known, commit) => known && ours[commit]),
    changes: pairMoves(visit.changes(head, tip, undefined), visit.versions).map(
      ({ change }) => change,
    ),
  };
}
