import * as z from 'zod';
import { conflictsShape, resolvedShape } from '../page/edit-answers.ts';
import { decisionFields, toDecisions } from './decision-fields.ts';
import { defineMemoryOperation } from './operation.ts';

export const conflicts = defineMemoryOperation({
  method: 'get',
  path: '/memory/conflicts',
  id: 'get_conflicts',
  summary:
    'Lists the records that a merge of git has left in conflict, with the text of each side.',
  input: z.object({}),
  answer: conflictsShape,
  async run({ history }) {
    const unmerged = await history.unmerged();
    return {
      conflicts: unmerged.map(({ path, ours, theirs }) => ({
        path,
        ...(ours !== undefined && { ours }),
        ...(theirs !== undefined && { theirs }),
      })),
    };
  },
});

export const resolve = defineMemoryOperation({
  method: 'post',
  path: '/memory/resolve',
  id: 'resolve_records',
  summary: 'Merges the records in conflict, by rules or for one side; git concludes the merge.',
  input: z.object(decisionFields),
  answer: resolvedShape,
  async run({ history }, given) {
    const { resolved, conflicts, edited, elsewhere, next } = await history.resolve(
      toDecisions(given),
    );
    return {
      resolved: [...resolved],
      conflicts: conflicts.map(({ path, reasons }) => ({ path, reasons: [...reasons] })),
      edited: [...edited],
      elsewhere: [...elsewhere],
      ...(next !== undefined && { next }),
    };
  },
});
