import * as z from 'zod';
import { changeShape } from './answers.ts';

/** The data of the pages about reviews. */

const text = z.string();
const count = z.number();

export const reviewsShape = z.object({
  reviews: z.array(
    z.object({
      name: text,
      branch: text,
      tip: text.describe('the last commit of the review'),
      base: text.describe('the commit from which the review differs only by these changes'),
      agent: text.optional(),
      at: text.describe('when the last change was made'),
      commits: count,
      changes: z.array(changeShape),
    }),
  ),
});

/** The changes of agents that wait for a review. */
export type ReviewList = z.infer<typeof reviewsShape>;

const reviewTip = text.optional().describe('the last commit of the review now, if it goes on');

const fieldConflictShape = z.object({
  field: text,
  base: z.unknown().optional().describe('before the changes of both sides'),
  ours: z.unknown().optional().describe('what the field becomes if this side wins'),
  theirs: z.unknown().optional(),
});

/** A conflict of a field. */
export type FieldConflictAnswer = z.infer<typeof fieldConflictShape>;

export const acceptedShape = z.object({
  commit: text.optional().describe('the merge commit; undefined if nothing was merged'),
  changes: count.describe('number of changed records'),
  conflicts: z
    .array(
      z.object({
        path: text,
        reasons: z.array(text),
        fields: z
          .array(fieldConflictShape)
          .describe('fields that need a decision; none where only the record can be decided'),
        ours: text.optional().describe('the text of the memory, of a record without such fields'),
        theirs: text.optional().describe('the text of the review, of a record without such fields'),
      }),
    )
    .describe('records that need a decision; nothing is merged before they have one'),
  state: text.optional().describe('identifies these conflicts, for the decisions about them'),
  reviewTip,
});

/** The result of accepting a review, or the records that need a decision first. */
export type Accepted = z.infer<typeof acceptedShape>;

export const droppedShape = z.object({
  tip: text.describe('the last commit of the review before, which brings the changes back'),
  base: text
    .optional()
    .describe('the commit of the memory whose state the records have again, if the review goes on'),
  reviewTip,
});

/** The result of a review, or of records of it, that were dropped. */
export type Dropped = z.infer<typeof droppedShape>;

export const correctedShape = z.object({ record: text, reviewTip });

/** The result of correcting a record of a review. */
export type Corrected = z.infer<typeof correctedShape>;

export const undoneShape = z.object({ record: text, reviewTip });

/** The result of taking a decision back. */
export type Undone = z.infer<typeof undoneShape>;

export const besideShape = z.object({
  evidence: z
    .array(z.object({ place: text, code: text.optional(), line: count.optional() }))
    .describe('the places that the record names, with their code in the work tree'),
  similar: z
    .array(z.object({ record: text, path: text, title: text, answer: text }))
    .describe('records and entries that say nearly the same'),
  before: text.optional().describe('the section as the memory has it; absent if it is new'),
  after: text.optional().describe('the section as the review has it; absent if it removes it'),
});

/** The code that a proposed record rests on, what says nearly the same, and both states of a section. */
export type Beside = z.infer<typeof besideShape>;
