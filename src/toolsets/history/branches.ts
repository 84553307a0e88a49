import { z } from 'zod';
import type { BranchInfo, ChangeKind } from '../../core/history.ts';
import { defineTool } from '../../core/tool.ts';
import { tellChanges, tellCommit, withinBudget } from './answer.ts';
import { limit } from './fields.ts';

export const listBranches = defineTool({
  name: 'list_branches',
  title: 'Branches and their memory',
  description: 'Local branches and how the memory of each differs from the current one.',
  effect: 'read',
  input: z.object({ limit }),
  async handle({ history }, { limit }) {
    const { branches, total } = await history.branches(limit);
    const told = withinBudget(branches.map(tellBranch));
    return { branches: told, total, truncated: told.length < total };
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
