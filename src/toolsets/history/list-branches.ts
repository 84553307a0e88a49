import { z } from 'zod';
import type { BranchInfo, ChangeKind } from '../../core/history.ts';
import { defineTool } from '../../core/tool.ts';
import { pageOf, tellChanges, tellCommit, withinBudget } from './answer.ts';
import { limit, skip } from './history-fields.ts';

export const listBranches = defineTool({
  name: 'list_branches',
  title: 'Branches and their memory',
  description: 'Local branches and how the memory of each differs from the current one.',
  effect: 'read',
  input: z.object({ limit, skip }),
  async handle({ history }, { limit, skip }) {
    const { branches, total } = await history.branches(limit, skip);
    const told = withinBudget(branches.map(tellBranch));
    return { branches: told, ...pageOf(skip, told.length, total) };
  },
});

function tellBranch({ name, current, commit, ahead, behind, unrelated, changes }: BranchInfo) {
  const count = (kind: ChangeKind) => changes.filter(({ change }) => change === kind).length;
  return {
    name,
    current,
    ...tellCommit(commit),
    // In commits that change memory.
    ahead,
    behind,
    ...(unrelated && { unrelated }),
    added: count('added'),
    changed: count('changed'),
    moved: count('moved'),
    removed: count('removed'),
    ...tellChanges(changes),
  };
}
