import * as z from 'zod';
import { saveText } from '../../app/project/record-text.ts';
import type { Context } from '../../core/declarations/context.ts';
import { MergeConflict } from '../../core/memory/conflict.ts';
import type { BranchMerge } from '../../core/memory/history.ts';
import { reviewBranches, type WaitingReview } from '../../core/memory/waiting-reviews.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import {
  type Accepted,
  acceptedShape,
  correctedShape,
  droppedShape,
  reviewsShape,
} from '../page/review-answers.ts';
import { commitId } from './answer-data.ts';
import { decisionFields, toDecisions } from './decision-fields.ts';
import { defineMemoryOperation } from './operation.ts';
import { readRecord } from './record-answer.ts';

const name = z.string().min(1).max(200);
const address = z.string().min(1).max(2000);
const addresses = z.array(address).max(10_000);
const paths = addresses.default([]);
const seen = commitId
  .optional()
  .describe('The last commit of the review that the person has seen; a later one is refused');
const comment = z
  .string()
  .max(2000)
  .optional()
  .describe('Why the person accepts them: one line of the commit');
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
  input: z.object({ name, comment, ...accepted }),
  answer: acceptedShape,
  async run(context, { name, records, seen, comment, ...given }, { types }) {
    const answer = await acceptOrAsk(context, types, reviewBranches + name, () =>
      context.reviews.accept(name, { records, seen, comment, ...toDecisions(given) }),
    );
    return { ...answer, ...(await tipNow(context, name)) };
  },
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
    const { commit, isNew, changes } = await accept();
    return { ...(isNew && { commit: commit.oid }), changes: changes.length, conflicts: [] };
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
  summary:
    'Ends a review without its changes, or undoes records of it; its last commit brings them back.',
  input: z.object({
    name,
    seen,
    records: paths.describe('Records or sections; default: all changes, which ends the review'),
  }),
  answer: droppedShape,
  async run(context, { name, seen, records }, { inReview }) {
    if (records.length === 0) return { tip: await context.reviews.drop(name, seen) };
    const tip = seen ?? (await findReview(context, name)).tip;
    // The memory is merged into the review first, whose base is then the memory as it is now.
    await inReview(name, ({ project }) => project.info());
    const { base } = await findReview(context, name);
    await inReview(name, ({ reviews }) => reviews.withdraw(base, records, tip));
    return { tip, base, ...(await tipNow(context, name)) };
  },
});

export const correctReview = defineMemoryOperation({
  method: 'post',
  path: '/memory/reviews/edit',
  id: 'correct_review',
  summary: 'Corrects a record of a review before it is accepted, as a commit of the review.',
  input: z.object({
    name,
    path: address,
    before: z.string().describe('The text that the new one was made from'),
    text: z.string(),
    reason: z.string().max(10_000).optional(),
  }),
  answer: correctedShape,
  async run(memory, { name, path, before, text, reason }, { types, inReview }) {
    await inReview(name, async (context) => {
      const { type, value } = await readRecord(context, types, path, undefined);
      const key = value && type.key(value);
      await saveText(context, { type, path, key }, { before, after: text, reason });
    });
    return { record: path, ...(await tipNow(memory, name)) };
  },
});

async function findReview({ reviews }: Context, name: string): Promise<WaitingReview> {
  const found = (await reviews.list()).find((one) => one.name === name);
  if (found) return found;
  throw new MemoryError('not_found', `No changes wait under the name ${JSON.stringify(name)}.`, {
    hint: 'Look at the list of reviews again.',
  });
}

/** The last commit of a review, so that a page knows it from a later one of the agent. */
export async function tipNow({ reviews }: Context, name: string): Promise<{ reviewTip?: string }> {
  const tip = (await reviews.tips()).get(name);
  return tip === undefined ? {} : { reviewTip: tip };
}
