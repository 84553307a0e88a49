import { isOfAgent } from '../../core/memory/author-name.ts';
import type { WaitingReview } from '../../core/memory/waiting-reviews.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { type ObjectDatabase, treeOf } from '../../git/objects/odb.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { isSame, mergeFile } from '../merge/merge-file.ts';
import { areRelated, divergence } from '../sync/divergence.ts';
import { proposedMoves } from './proposed-part.ts';

/** The agent of the merges that the program makes by itself. */
const ownMerges = 'memory-bank';

/** Why a review can only be accepted record by record. */
export const rewritten =
  'it has no commit in common with the memory, whose history was rewritten since';

/** The last commit that two lines have in common; undefined if they have none. */
export async function lastCommon(
  reader: HistoryReader,
  ours: Oid,
  theirs: Oid,
): Promise<Oid | undefined> {
  if (!(await areRelated(reader, ours, theirs))) return undefined;
  return (await divergence(reader, ours, theirs)).base;
}

/** Describes the changes that only a review has; undefined if there are none. */
export async function describeWaiting(
  reader: HistoryReader,
  name: string,
  tip: Oid,
  base: Oid,
): Promise<WaitingReview | undefined> {
  const { odb } = reader.history.repository;
  const own = [...reachableCommits(odb, base, [{ name, oid: tip }]).keys()];
  if (own.length === 0) return undefined;
  const fork = await lastCommon(reader, base, tip);
  const open = openPaths(reader, base, tip, fork);
  const changes = proposedMoves(reader, { base: fork, tip }).filter(
    ({ change: { path, from } }) => open.has(path) || (from !== undefined && open.has(from)),
  );
  if (changes.length === 0) return undefined;
  const infos = own.filter((oid) => !isNote(odb, oid)).map((oid) => reader.history.commit(oid));
  const [last] = infos;
  return {
    name,
    tip,
    base: fork ?? base,
    // A person may have corrected it.
    agent: infos.find(({ agent }) => agent !== ownMerges && isOfAgent(agent))?.agent,
    at: last?.at ?? '',
    commits: infos.length,
    changes: changes.map(({ change }) => change),
    problem: fork === undefined ? rewritten : undefined,
  };
}

/**
 * The paths of records that the memory does not have as a review has them.
 *
 * @param fork the last common commit; without one, a record that the memory has with all that the review
 *   has of it is not open.
 */
function openPaths(
  reader: HistoryReader,
  base: Oid,
  tip: Oid,
  fork: Oid | undefined,
): ReadonlySet<string> {
  const changes = reader.changes(base, tip, undefined);
  if (fork !== undefined) return new Set(changes.map(({ path }) => path));
  const { odb } = reader.history.repository;
  const { types } = reader.history.memory;
  const content = (blob: Oid | undefined) =>
    blob === undefined ? undefined : odb.content(blob, 'blob');
  const open = changes.filter(({ path, before, after }) => {
    const sides = { base: undefined, ours: content(before), theirs: content(after) };
    const { bytes, conflict } = mergeFile(types, path, sides, 7);
    return conflict || !isSame(bytes, sides.ours);
  });
  return new Set(open.map(({ path }) => path));
}

/** Whether a commit only says that a part of a review was accepted. */
function isNote(odb: ObjectDatabase, oid: Oid): boolean {
  const { tree, parents } = parseCommit(odb.content(oid, 'commit'));
  const [first] = parents;
  return parents.length > 1 && first !== undefined && treeOf(odb, first) === tree;
}
