import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { MergeConflict } from '../../core/memory/conflict.ts';
import type { BranchMerge } from '../../core/memory/history.ts';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Accepted, acceptedShape, droppedShape, reviewsShape } from '../page/answers.ts';
import { commitId } from './answer-data.ts';
import { decisionFields, toDecisions } from './decision-fields.ts';
import { defineMemoryOperation } from './operation.ts';
import { readRecord } from './record-answer.ts';

const name = z.string().min(1).max(200);
const addresses = z.array(z.string().min(1).max(2000)).max(10_000);
const paths = addresses.default([]);
const seen = commitId
  .optional()
  .describe('The last commit of the review that the person has seen; a later one is refused');
const accepted = {
  records: paths.describe(
    'Records, folders or sections, decisionLog.md#Title; default: all changes',
  ),
  seen,
  ...decisionFields,
};

export const reviews = defineMemoryOperation({
  method: 'get',
  path: '/memory/reviews',
  id: 'get_reviews',
  summary: 'Lists the changes of agents that wait for a review, by record.',
  input: z.object({}),
  answer: reviewsShape,
  async run({ reviews }) {
    const found = await reviews.list();
    return {
      reviews: found.map(({ name, tip, base, agent, at, commits, changes }) => ({
        name,
        branch: reviewBranches + name,
        tip,
        base,
        ...(agent !== undefined && { agent }),
        at,
        commits,
        changes: [...changes],
      })),
    };
  },
});

export const acceptReview = defineMemoryOperation({
  method: 'post',
  path: '/memory/reviews/accept',
  id: 'accept_review',
  summary:
    'Merges the changes of a review into the memory, and ends it; or lists the records that need a decision.',
  input: z.object({ name, ...accepted }),
  answer: acceptedShape,
  run: (context, { name, records, seen, ...given }, { types }) =>
    acceptOrAsk(context, types, reviewBranches + name, () =>
      context.reviews.accept(name, { records, seen, ...toDecisions(given) }),
    ),
});

export const acceptBranch = defineMemoryOperation({
  method: 'post',
  path: '/memory/branches/accept',
  id: 'accept_records',
  summary:
    'Merges records of another branch into the memory, without its history; or lists the records that need a decision.',
  input: z.object({ branch: name, ...accepted, records: addresses.min(1) }),
  answer: acceptedShape,
  run: (context, { branch, records, seen, ...given }, { types }) =>
    acceptOrAsk(context, types, branch, () =>
      context.reviews.acceptFrom(branch, { records, seen, ...toDecisions(given) }),
    ),
});

/** Accepts changes, or returns both versions of the records that need a decision first. */
async function acceptOrAsk(
  context: Context,
  types: readonly AnyRecordType[],
  revision: string,
  accept: () => Promise<BranchMerge>,
): Promise<Accepted> {
  try {
    const { commit, changes } = await accept();
    return { commit: commit.oid, changes: changes.length, conflicts: [] };
  } catch (error) {
    if (!(error instanceof MergeConflict)) throw error;
    const conflicts = error.conflicts.map(async ({ path, reasons, fields }) => {
      const read = (revision?: string) =>
        fields.length > 0 ? undefined : textOf(context, types, path, revision);
      const [ours, theirs] = [await read(), await read(revision)];
      return {
        path,
        reasons: [...reasons],
        fields: fields.map((field) => ({ ...field })),
        ...(ours !== undefined && { ours }),
        ...(theirs !== undefined && { theirs }),
      };
    });
    return { changes: 0, conflicts: await Promise.all(conflicts), state: error.state };
  }
}

/** The text of a record; undefined if the state does not have it. */
async function textOf(
  context: Context,
  types: readonly AnyRecordType[],
  path: string,
  revision: string | undefined,
): Promise<string | undefined> {
  try {
    return (await readRecord(context, types, path, revision)).text;
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return undefined;
    throw error;
  }
}

export const dropReview = defineMemoryOperation({
  method: 'post',
  path: '/memory/reviews/drop',
  id: 'drop_review',
  summary: 'Ends a review without its changes; its last commit brings them back.',
  input: z.object({ name, seen }),
  answer: droppedShape,
  run: async ({ reviews }, { name, seen }) => ({ tip: await reviews.drop(name, seen) }),
});
