import type { Change } from '../../core/memory/commit-log.ts';
import type { Decisions } from '../../core/memory/conflict.ts';
import type { BranchMerge } from '../../core/memory/history.ts';
import type { Provenance } from '../../core/memory/store.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Joined, Proposal } from '../../git/commit/commit-plan.ts';
import type { Oid } from '../../git/objects/object.ts';
import { isOid } from '../../git/objects/object-format.ts';
import { pairMoves } from '../history/comparison.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { checkLineFormat } from '../history/line-format.ts';
import { type Actor, commitMessage } from '../records/message.ts';
import { divergence } from './divergence.ts';
import { bringIn } from './joining.ts';

/**
 * Merges another branch of the memory into the current one, record by record.
 *
 * @param revision names the other branch.
 * @throws MemoryError `unsupported` if the memory is on the branches of the project, which git merges.
 */
export async function mergeBranch(
  reader: HistoryReader,
  revision: string,
  decisions: Decisions,
): Promise<BranchMerge> {
  if (!reader.history.memory.isApart) {
    throw new MemoryError(
      'unsupported',
      'Here the memory is merged with the branches of the code.',
      {
        hint: `Run "git merge ${revision}".`,
      },
    );
  }
  const tip = await reader.resolve(revision);
  const name = isOid(revision) ? revision.slice(0, 12) : revision;
  return mergeCommit(reader, tip, { name, decisions, why: { subject: `merge ${name}` } });
}

/** A merge of another line of the memory. */
export interface MergeRequest {
  /** The name of the other line. */
  readonly name: string;
  readonly decisions: Decisions;
  readonly why: Provenance;
  /** The origin of the changes, where it is not the call. */
  readonly by?: Partial<Actor>;
  /** Whether no commit is made if the other line continues from this one; true by default. */
  readonly forward?: boolean;
}

/** The changes that a merge brings. */
interface Lines {
  /** The commit from which the changes are taken. */
  readonly base: Oid | undefined;
  /** The history that becomes a part of this one; undefined for the changes alone. */
  readonly join?: Joined;
}

/** Merges a commit into the current branch; it must not change files outside the memory. */
export async function mergeCommit(
  reader: HistoryReader,
  tip: Oid,
  request: MergeRequest,
): Promise<BranchMerge> {
  const { forward = true } = request;
  return commitLines(reader, tip, request, async (head) => {
    if (head === tip) return undefined;
    const { base } = await divergence(reader, head, tip);
    if (base === undefined || base === tip) return undefined;
    return { base, join: { tip, forward: forward && base === head } };
  });
}

/**
 * Merges the changes between two commits into the current branch, without the history of them.
 *
 * @param base undefined where nothing is in common: then the records of the other commit are additions.
 */
export function mergeChanges(
  reader: HistoryReader,
  base: Oid | undefined,
  tip: Oid,
  request: MergeRequest,
): Promise<BranchMerge> {
  return commitLines(reader, tip, request, async () => ({ base }));
}

/** @throws MemoryError `conflict` and others if `mergeCommit` would be refused. */
export async function checkMerge(
  reader: HistoryReader,
  tip: Oid,
  { name, decisions }: MergeRequest,
): Promise<void> {
  const { memory, repository } = reader.history;
  memory.settings.checkFormat();
  checkLineFormat(repository.odb, tip, memory.inTree(''));
  const head = await reader.resolve('HEAD');
  const { base } = await divergence(reader, head, tip);
  bringIn(reader, { base, head, tip, name }, decisions);
}

async function commitLines(
  reader: HistoryReader,
  tip: Oid,
  { name, decisions, why, by }: MergeRequest,
  linesTo: (head: Oid) => Promise<Lines | undefined>,
): Promise<BranchMerge> {
  const { history, rights } = reader;
  const before = await reader.resolve('HEAD');
  const actor = { ...(await rights.actor()), ...by };
  const made = await history.repository.commit(
    async ({ oid: head }): Promise<Proposal | undefined> => {
      const lines = head && (await linesTo(head));
      if (head === undefined || !lines) return undefined;
      const { base, join } = lines;
      if (!join?.forward) checkLineFormat(history.repository.odb, tip, history.memory.inTree(''));
      const { changes, records } = bringIn(reader, { base, head, tip, name }, decisions);
      const trailers = { ...(join && { Merged: tip }), ...why.trailers };
      const message = commitMessage({ ...why, trailers }, records, actor);
      const { author } = actor;
      return { changes, message, author, adopt: history.memory.adoption(), ...(join && { join }) };
    },
    rights,
  );
  if (made && made.oid !== tip) rights.onCommit(made);
  const after = made?.oid ?? before;
  const changes: Change[] = pairMoves(
    reader.changes(before, after, undefined),
    reader.versions,
  ).map(({ change }) => change);
  return { commit: await reader.describe(after), isNew: made !== undefined, changes };
}
