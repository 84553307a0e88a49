import { MemoryError } from '../../core/error.ts';
import type { BranchMerge, Change, Decisions } from '../../core/history.ts';
import type { Proposal } from '../../git/commit/commit-plan.ts';
import { isOid, type Oid } from '../../git/objects/object.ts';
import { pairMoves } from '../history/comparison.ts';
import type { Visit } from '../history/visit.ts';
import { commitMessage } from '../records/message.ts';
import { toCommitMade } from '../records/permit.ts';
import { divergence } from './divergence.ts';
import { bringIn } from './joining.ts';

/**
 * Merges another branch of the memory into the current one, record by record.
 *
 * @param revision names the other branch.
 * @throws MemoryError `unsupported` if the memory is on the branches of the project, which git merges.
 */
export async function mergeBranch(
  visit: Visit,
  revision: string,
  decisions: Decisions,
): Promise<BranchMerge> {
  if (!visit.archive.memory.isApart) {
    throw new MemoryError(
      'unsupported',
      'Here the memory is merged with the branches of the code.',
      {
        hint: `Run "git merge ${revision}".`,
      },
    );
  }
  const tip = await visit.resolve(revision);
  const name = isOid(revision) ? revision.slice(0, 12) : revision;
  return mergeCommit(visit, tip, { name, decisions, subject: `merge ${name}` });
}

/** A merge of another line of the memory. */
export interface MergeRequest {
  /** The name of the other line. */
  readonly name: string;
  readonly decisions: Decisions;
  /** The subject of the commit. */
  readonly subject: string;
  /** Whether no commit is made if the other line continues from this one; true by default. */
  readonly forward?: boolean;
}

/** Merges a commit into the current branch; it must not change files outside the memory. */
export async function mergeCommit(
  visit: Visit,
  tip: Oid,
  { name, decisions, subject, forward = true }: MergeRequest,
): Promise<BranchMerge> {
  const { archive, permit } = visit;
  const before = await visit.resolve('HEAD');
  const actor = await permit.actor();
  const made = await archive.repository.commit(
    async ({ oid: head }): Promise<Proposal | undefined> => {
      if (head === undefined || head === tip) return undefined;
      const { base } = await divergence(visit, head, tip);
      if (base === undefined || base === tip) return undefined;
      const { changes, records } = bringIn(visit, { base, head, tip, name }, decisions);
      const message = commitMessage({ subject, trailers: { Merged: tip } }, records, actor);
      const join = { tip, forward: forward && base === head };
      return { changes, message, adopt: archive.memory.adoption(), join };
    },
    permit.signal,
  );
  if (made && made.oid !== tip) permit.onCommit(toCommitMade(made));
  const after = made?.oid ?? before;
  const changes: Change[] = pairMoves(visit.changes(before, after, undefined), visit.versions).map(
    ({ change }) => change,
  );
  return { commit: await visit.describe(after), isNew: made !== undefined, changes };
}
