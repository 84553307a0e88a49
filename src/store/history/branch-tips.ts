import type { BranchInfo } from '../../core/memory/history.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { pairMoves } from './comparison.ts';
import type { HistoryReader } from './history-reader.ts';
import { ancestors, ownChanges } from './lineage.ts';

const prefix = 'refs/heads/';

/** The local branches, and how their memory differs from that of HEAD; see `History`. */
export async function branches(
  reader: HistoryReader,
  limit: number,
  skip: number,
): Promise<{ readonly branches: readonly BranchInfo[]; readonly total: number }> {
  const { history } = reader;
  const { refs, odb } = history.repository;
  const head = refs.head();
  const timeOf = (oid: Oid) => parseCommit(odb.content(oid, 'commit')).committer.seconds;
  const all = refs
    .list(prefix)
    // Next to a memory on branches of its own, the branches of the code have none.
    .filter(({ oid }) => !history.memory.isApart || history.tree(oid) !== undefined)
    .map(({ ref, oid }) => ({ ref, oid, current: ref === head.ref, time: timeOf(oid) }))
    .sort((a, b) => Number(b.current) - Number(a.current) || b.time - a.time);
  const found: BranchInfo[] = [];
  for (const { ref, oid, current } of all.slice(skip, skip + limit)) {
    const differences =
      head.oid === undefined ? unrelated : await compareTips(reader, head.oid, oid);
    const commit = await reader.describe(oid);
    found.push({ name: ref.slice(prefix.length), current, commit, ...differences });
  }
  return { branches: found, total: all.length };
}

const unrelated = { ahead: 0, behind: 0, unrelated: true, changes: [] };

async function compareTips(reader: HistoryReader, head: Oid, tip: Oid) {
  const here = await reader.indexedCommit(head);
  const { index, number } = await reader.indexedCommit(tip);
  const ours = ancestors(index, here.number);
  const theirs = ancestors(index, number);
  const touchesMemory = (commit: number) =>
    ownChanges(index, commit).some(({ path }) => reader.mayRead(path));
  const only = (side: readonly unknown[], other: readonly unknown[]) =>
    [...side.keys()].filter((commit) => side[commit] && !other[commit] && touchesMemory(commit));
  return {
    ahead: only(theirs, ours).length,
    behind: only(ours, theirs).length,
    unrelated: !theirs.some((known, commit) => known && ours[commit]),
    changes: pairMoves(reader.changes(head, tip, undefined), reader.versions).map(
      ({ change }) => change,
    ),
  };
}
