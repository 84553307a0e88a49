import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { ancestors } from '../history/lineage.ts';

/** The relation of two lines of history. */
export interface Divergence {
  /** The last common commit; undefined if there is only one line. */
  readonly base: Oid | undefined;
  /** The commits that only ours has. */
  readonly ahead: readonly Oid[];
}

/**
 * Finds where two lines of history diverge.
 *
 * @param theirs undefined if there is no other line.
 * @throws MemoryError `conflict` if they have no common commit, as far as the clone reaches.
 */
export async function divergence(
  reader: HistoryReader,
  ours: Oid,
  theirs: Oid | undefined,
): Promise<Divergence> {
  const here = await reader.indexedCommit(ours);
  const there = theirs === undefined ? undefined : await reader.indexedCommit(theirs);
  const { index } = there ?? here;
  const own = ancestors(index, here.number);
  const others = there ? ancestors(index, there.number) : [];
  const known = [...Array(Math.max(own.length, others.length)).keys()];
  const base = known.findLast((commit) => own[commit] && others[commit]);
  if (there && base === undefined) {
    throw unrelated(known.some((one) => (own[one] || others[one]) && index.isCut(one)));
  }
  const ahead = known.filter((commit) => own[commit] && !others[commit]);
  return {
    base: base === undefined ? undefined : index.commit(base).oid,
    ahead: ahead.map((commit) => index.commit(commit).oid),
  };
}

/** Whether two lines of history have a commit in common. */
export async function areRelated(reader: HistoryReader, ours: Oid, theirs: Oid): Promise<boolean> {
  const here = await reader.indexedCommit(ours);
  const { index, number } = await reader.indexedCommit(theirs);
  const own = ancestors(index, here.number);
  const others = ancestors(index, number);
  return [...others.keys()].some((one) => own[one] && others[one]);
}

/** Commits that the remote had and has dropped, and that are still in our line of history. */
export interface DroppedCommits {
  /** The last of them that the remote had as the tip of the branch. */
  readonly tip: Oid;
  readonly count: number;
}

/**
 * Finds out whether the history of a remote branch was rewritten.
 *
 * @param last the tip at the last exchange.
 * @param earlier the tips that the branch had before, the newest first. They do not count if ours contains
 *   the new tip: then a person has merged it since.
 * @returns undefined if it still has all of them that we have.
 */
export async function droppedBy(
  reader: HistoryReader,
  ours: Oid,
  theirs: Oid,
  last: Oid | undefined,
  earlier: readonly Oid[],
): Promise<DroppedCommits | undefined> {
  const here = await reader.indexedCommit(ours);
  const there = await reader.indexedCommit(theirs);
  const own = ancestors(there.index, here.number);
  const others = ancestors(there.index, there.number);
  const tips = [...(last ? [last] : []), ...(own[there.number] ? [] : earlier)];
  const { odb } = reader.history.repository;
  for (const tip of tips) {
    if (tip === theirs || !odb.has(tip)) continue;
    const { index, number } = await reader.indexedCommit(tip);
    if (!own[number] || others[number]) continue;
    const before = ancestors(index, number);
    const count = [...before.keys()].filter((commit) => before[commit] && !others[commit]).length;
    return { tip, count };
  }
  return undefined;
}

function unrelated(shallow: boolean): MemoryError {
  return shallow
    ? new MemoryError(
        'conflict',
        'The clone is shallow: it does not contain the commit where both sides diverged.',
        {
          hint: 'Run "git fetch --unshallow", then sync again.',
        },
      )
    : new MemoryError('conflict', 'The branch and its upstream have no commit in common.', {
        hint: 'Check that the remote is the right one: "git remote -v". To join unrelated histories, run "git pull --allow-unrelated-histories".',
      });
}
