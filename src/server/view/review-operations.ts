import * as z from 'zod';
import type { Context } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';
import type { BranchMerge } from '../../core/history.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import { reviewBranches } from '../../core/waiting-reviews.ts';
import { type Accepted, acceptedShape, droppedShape, reviewsShape } from '../page/answers.ts';
import { defineMemoryOperation } from './operation.ts';
import { readRecord } from './record-answer.ts';

const name = z.string().min(1).max(200);
const addresses = z.array(z.string().min(1).max(2000)).max(10_000);
const paths = addresses.default([]);
const seen = z
  .string()
  .regex(/^[0-9a-f]{40}$/)
  .optional()
  .describe('The last commit of the review that the person has seen; a later one is refused');
const accepted = {
  records: paths.describe(
    'Records, folders or sections, decisionLog.md#Title; default: all changes',
  ),
  seen,
  ours: paths.describe('Records whose conflicts the memory wins'),
  theirs: paths.describe('Records whose conflicts the other side wins'),
};
/** The records in the data of a conflict. */
const conflictList = z.array(z.object({ path: z.string(), reasons: z.array(z.string()) }));

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
  run: (context, { name, ...request }, { types }) =>
    acceptOrAsk(context, types, reviewBranches + name, () => context.reviews.accept(name, request)),
});

export const acceptBranch = defineMemoryOperation({
  method: 'post',
  path: '/memory/branches/accept',
  id: 'accept_records',
  summary:
    'Merges records of another branch into the memory, without its history; or lists the records that need a decision.',
  input: z.object({ branch: name, ...accepted, records: addresses.min(1) }),
  answer: acceptedShape,
  run: (context, { branch, ...request }, { types }) =>
    acceptOrAsk(context, types, branch, () => context.reviews.acceptFrom(branch, request)),
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
    const { data } = conflictList.safeParse(
      error instanceof MemoryError ? error.data?.conflicts : undefined,
    );
    if (!data) throw error;
    const conflicts = data.map(async (conflict) => {
      const ours = await textOf(context, types, conflict.path, undefined);
      const theirs = await textOf(context, types, conflict.path, revision);
      return {
        ...conflict,
        ...(ours !== undefined && { ours }),
        ...(theirs !== undefined && { theirs }),
      };
    });
    return { changes: 0, conflicts: await Promise.all(conflicts) };
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
