import * as z from 'zod';
import { defineOperation } from '../../core/declarations/tool.ts';
import { changedRecordLines } from '../../core/memory/change-lines.ts';
import type { FieldChange, RecordChange } from '../../core/memory/commit-log.ts';
import type { CompareRequest, Comparison } from '../../core/memory/history.ts';
import { commitAnswer, cutDiff, cutList, cutValue, fits, pageOf, withinBudget } from './answer.ts';
import { forPeople, limit, path, revision, revisionForms, skip } from './history-fields.ts';
import { restLines } from './history-text.ts';

export const diffMemory = defineOperation({
  name: 'diff_memory',
  title: 'Diff memory',
  description:
    'Compare two states: what has changed in the memory since last week, or between branches. Who did it: record_history.',
  effect: 'read',
  input: z.object({
    from: revision,
    to: revision.default('HEAD'),
    path: path.optional().describe('Record, `file.md#Section` or folder'),
    limit,
    skip,
  }),
  run: ({ history }, request: CompareRequest) => history.compare(request),
  answer(comparison, { skip }) {
    const { from, to, counts, changes } = comparison;
    const shown = withinBudget(changes.map(changeAnswer));
    return {
      from: commitAnswer(from),
      to: commitAnswer(to),
      ...counts,
      changes: shown,
      ...pageOf(skip, shown.length, totalOf(comparison)),
    };
  },
  command: {
    name: 'diff',
    about: `compare two states of the memory; by default the last commit with the one before, and a state is ${revisionForms}`,
    operands: ['from?', 'to?'],
    input: z.object({
      from: forPeople.revision.default('HEAD~1'),
      to: forPeople.revision.default('HEAD'),
      path: forPeople.path
        .optional()
        .describe('only this record, section (file.md#Title) or folder'),
      limit: forPeople.limit,
      skip: forPeople.skip,
    }),
    show(comparison, painter) {
      const { changes } = comparison;
      const total = totalOf(comparison);
      return [
        ...changes.flatMap((change) => changedRecordLines(painter, change)),
        ...restLines(painter, total - changes.length, total, 'more change'),
      ];
    },
    nothing: (comparison) =>
      totalOf(comparison) === 0 ? 'Both states have the same records.' : undefined,
  },
});

function totalOf({ counts }: Comparison): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function changeAnswer({ type, key, title, fields, sections: _, ...change }: RecordChange) {
  const shown = fields.map(fieldAnswer);
  return {
    ...change,
    record: type.name,
    ...(key !== undefined && { key }),
    ...(title !== undefined && title !== key && { title }),
    ...(fields.length > 0 && {
      fields: fits(shown) ? shown : fields.map(({ field }) => ({ field })),
    }),
  };
}

function fieldAnswer({ field, before, after, added, removed, diff }: FieldChange) {
  return {
    field,
    ...(before !== undefined && { before: cutValue(before) }),
    ...(after !== undefined && { after: cutValue(after) }),
    ...(removed !== undefined && { removed: cutList(removed) }),
    ...(added !== undefined && { added: cutList(added) }),
    ...(diff !== undefined && { diff: cutDiff(diff) }),
  };
}
