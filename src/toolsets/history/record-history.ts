import { z } from 'zod';
import { defineTool } from '../../core/tool.ts';
import { pageOf, shallowNote, tellChanges, tellCommit, withinBudget } from './answer.ts';
import { limit, path, revision, skip } from './history-fields.ts';

export const recordHistory = defineTool({
  name: 'record_history',
  title: 'History of records',
  description:
    'Who changed a record (also one that is gone), a folder or all memory; when and why. Newest first.',
  effect: 'read',
  input: z.object({
    path: path.optional().describe('Below .memory-bank/, as searches give it'),
    revision: revision
      .default('HEAD')
      .describe('Branch, tag, id, HEAD~3, 2026-01-31, "2 days ago"'),
    limit,
    skip,
  }),
  async handle({ history }, request) {
    const { entries, total, shallow } = await history.log(request);
    const commits = withinBudget(
      entries.map(({ commit, changes }) => ({ ...tellCommit(commit), ...tellChanges(changes) })),
    );
    return {
      commits,
      ...pageOf(request.skip, commits.length, total),
      ...(shallow && { note: shallowNote }),
    };
  },
});
