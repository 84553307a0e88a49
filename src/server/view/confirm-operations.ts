import * as z from 'zod';
import { confirmableListShape, confirmedShape } from '../page/answers.ts';
import { commitData, commitId, path } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';

export const confirmable = defineMemoryOperation({
  method: 'get',
  path: '/memory/confirmable',
  id: 'get_confirmable',
  summary: 'Lists a record and its entries, each with the commit by which a person confirmed it.',
  input: z.object({ path }),
  answer: confirmableListShape,
  async run({ reviews }, { path }) {
    const parts = await reviews.confirmable(path);
    return {
      parts: parts.map(({ address, title, confirmed }) => ({
        address,
        ...(title !== undefined && { title }),
        ...(confirmed && { confirmed: commitData(confirmed) }),
      })),
    };
  },
});

export const confirmRecord = defineMemoryOperation({
  method: 'post',
  path: '/memory/confirm',
  id: 'confirm_record',
  summary: 'Confirms a record or section as it is, with a commit that changes no file.',
  input: z.object({
    address: z.string().min(1).max(2000).describe('A record or section: decisionLog.md#Title'),
    seen: commitId
      .optional()
      .describe('The last commit that the person has seen; a record changed since is refused'),
  }),
  answer: confirmedShape,
  async run({ reviews }, { address, seen }) {
    const confirmed = await reviews.confirm(address, seen);
    return { address: confirmed.address, commit: confirmed.commit };
  },
});
