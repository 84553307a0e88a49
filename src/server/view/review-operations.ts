import { z } from 'zod';
import { reviewBranches } from '../../core/waiting-reviews.ts';
import { acceptedShape, droppedShape, reviewsShape } from '../page/answers.ts';
import { path } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';

const name = z.string().min(1).max(200);
const paths = z.array(path).max(10_000).default([]);

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
      reviews: found.map(({ name, base, agent, at, commits, changes }) => ({
        name,
        branch: reviewBranches + name,
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
  summary: 'Merges the changes of a review into the memory, and ends it.',
  input: z.object({
    name,
    ours: paths.describe('Records whose conflicts the memory wins'),
    theirs: paths.describe('Records whose conflicts the review wins'),
  }),
  answer: acceptedShape,
  async run({ reviews }, { name, ...decisions }) {
    const { commit, changes } = await reviews.accept(name, decisions);
    return { commit: commit.oid, changes: changes.length };
  },
});

export const dropReview = defineMemoryOperation({
  method: 'post',
  path: '/memory/reviews/drop',
  id: 'drop_review',
  summary: 'Ends a review without its changes; its last commit brings them back.',
  input: z.object({ name }),
  answer: droppedShape,
  run: async ({ reviews }, { name }) => ({ tip: await reviews.drop(name) }),
});
