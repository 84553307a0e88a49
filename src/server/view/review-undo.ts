import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import { MemoryError } from '../../core/values/error.ts';
import { undoneShape } from '../page/review-answers.ts';
import { commitId } from './answer-data.ts';
import { type Catalogue, defineMemoryOperation } from './operation.ts';
import { type PartState, partAt } from './record-part.ts';
import { tipNow } from './review-operations.ts';

/** A decision that is taken back. */
interface Decision {
  readonly name: string;
  readonly record: string;
  readonly tip: string;
}

export const undoReview = defineMemoryOperation({
  method: 'post',
  path: '/memory/reviews/undo',
  id: 'undo_review_step',
  summary: 'Takes back the last decision about a record of a review, so that it waits again.',
  input: z.object({
    name: z.string().min(1).max(200),
    record: z.string().min(1).max(2000).describe('The record or section that was decided'),
    tip: commitId.describe('The last commit of the review before the decision'),
    accepted: commitId.optional().describe('The commit that accepted it'),
    dropped: commitId.optional().describe('Of one that was dropped: the base of that answer'),
  }),
  answer: undoneShape,
  async run(context, { accepted, dropped, ...decision }, { inReview }) {
    const after = accepted ?? dropped;
    if (after === undefined) {
      throw new MemoryError('invalid_input', 'The decision to take back is missing.', {
        hint: 'Give "accepted" or "dropped", from the answer to the decision.',
      });
    }
    const { name, record } = decision;
    // Before anything is changed: only a person may, and the review knows the memory as it is now.
    await inReview(name, ({ project }) => project.info());
    const waits = await unchanged(context, record, reviewBranches + name, after);
    if (accepted === undefined) await bringBack(inReview, decision, waits);
    else await takeOut(context, inReview, decision, accepted);
    return { record, ...(await tipNow(context, name)) };
  },
});

/** Takes an accepted record out of the memory, then brings it back into the review. */
async function takeOut(
  context: Context,
  inReview: Catalogue['inReview'],
  decision: Decision,
  accepted: string,
): Promise<void> {
  const { name, record } = decision;
  const before = `${accepted}~1`;
  const { commit } = await context.history.at(accepted);
  if (!commit.isAcceptance) {
    throw new MemoryError('invalid_input', `The commit ${accepted} accepts nothing.`, {
      hint: 'Give the commit of the answer to the decision.',
    });
  }
  const { commit: seen } = await unchanged(context, record, 'HEAD', accepted);
  await context.history.restore(record, before, { removes: true, seen });
  try {
    // The review learns that the memory does not have it any more.
    await inReview(name, ({ project }) => project.info());
    const gone = await unchanged(context, record, reviewBranches + name, before);
    await bringBack(inReview, decision, gone);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    throw new MemoryError(
      error.code,
      `${record} was taken out of the memory, but it does not wait in the review ${name} again: ${error.text}`,
      {
        hint: `To have it in the memory again: memory-bank restore ${JSON.stringify(record)} --as-of ${accepted.slice(0, 12)}. The commit ${decision.tip.slice(0, 12)} has it as it was proposed.`,
        data: { review: name },
      },
    );
  }
}

async function bringBack(
  inReview: Catalogue['inReview'],
  { name, record, tip }: Decision,
  { commit: seen }: PartState,
): Promise<void> {
  await inReview(name, ({ history }) => history.restore(record, tip, { removes: true, seen }));
}

/**
 * Returns the present state of a part, which has to be as a decision left it: what an agent or another
 * person has written since must not be lost.
 *
 * @throws MemoryError `conflict`.
 */
async function unchanged(
  context: Context,
  record: string,
  revision: string,
  after: string,
): Promise<PartState> {
  const now = await partAt(context, record, revision);
  const left = await partAt(context, record, after);
  if (now.text === left.text) return now;
  const where = revision === 'HEAD' ? 'the memory' : 'the review';
  throw new MemoryError('conflict', `${record} was changed in ${where} since the decision.`, {
    hint: 'Nothing was taken back. Restore an earlier state of it on its page.',
  });
}
