import { z } from 'zod';
import type { FieldChange, RecordChange } from '../../core/history.ts';
import { defineTool } from '../../core/tool.ts';
import { cutDiff, cutList, cutValue, fits, pageOf, tellCommit, withinBudget } from './answer.ts';
import { limit, path, revision, skip } from './history-fields.ts';

export const diffMemory = defineTool({
  name: 'diff_memory',
  title: 'Compare two states of the memory',
  description:
    'How two commits, branches or dates differ: records added, moved, removed; fields changed.',
  effect: 'read',
  input: z.object({
    from: revision,
    to: revision.default('HEAD'),
    path: path.optional().describe('Record or folder'),
    limit,
    skip,
  }),
  async handle({ history }, request) {
    const { from, to, counts, changes } = await history.compare(request);
    const told = withinBudget(changes.map(tellChange));
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return {
      from: tellCommit(from),
      to: tellCommit(to),
      ...counts,
      changes: told,
      ...pageOf(request.skip, told.length, total),
    };
  },
});

function tellChange({ type, key, title, fields, ...change }: RecordChange) {
  const told = fields.map(tellField);
  return {
    ...change,
    record: type.name,
    ...(key !== undefined && { key }),
    ...(title !== undefined && title !== key && { title }),
    ...(fields.length > 0 && {
      fields: fits(told) ? told : fields.map(({ field }) => ({ field })),
    }),
  };
}

function tellField({ field, before, after, added, removed, diff }: FieldChange) {
  return {
    field,
    ...(before !== undefined && { before: cutValue(before) }),
    ...(after !== undefined && { after: cutValue(after) }),
    ...(removed !== undefined && { removed: cutList(removed) }),
    ...(added !== undefined && { added: cutList(added) }),
    ...(diff !== undefined && { diff: cutDiff(diff) }),
  };
}
