import * as z from 'zod';
import type { Painter } from '../../core/answers/painter.ts';
import { defineOperation } from '../../core/declarations/tool.ts';
import type { ChangeKind } from '../../core/memory/commit-log.ts';
import type { BranchInfo } from '../../core/memory/history.ts';
import { changesAnswer, commitAnswer, pageOf, shortId, withinBudget } from './answer.ts';
import { forPeople, limit, skip } from './history-fields.ts';
import { restLines } from './history-text.ts';

export const listBranches = defineOperation({
  name: 'list_branches',
  title: 'Branches and their memory',
  description: 'Which branches have a memory, and how it differs from the current one.',
  effect: 'read',
  input: z.object({ limit, skip }),
  run: ({ history }, { limit, skip }: { readonly limit: number; readonly skip: number }) =>
    history.branches(limit, skip),
  answer({ branches, total }, { skip }) {
    const shown = withinBudget(branches.map(branchAnswer));
    return { branches: shown, ...pageOf(skip, shown.length, total) };
  },
  command: {
    name: 'branches',
    about: 'list the branches and how their memory differs; from the current one',
    input: z.object({ limit: forPeople.limit, skip: forPeople.skip }),
    show: ({ branches, total }, painter) => [
      ...branches.flatMap((branch) => branchLines(painter, branch)),
      ...restLines(painter, total - branches.length, total, 'more branch'),
    ],
  },
});

const kinds: readonly ChangeKind[] = ['added', 'changed', 'moved', 'removed'];

function countOf(changes: BranchInfo['changes'], kind: ChangeKind): number {
  return changes.filter(({ change }) => change === kind).length;
}

function branchAnswer({ name, current, commit, ahead, behind, unrelated, changes }: BranchInfo) {
  return {
    name,
    current,
    ...commitAnswer(commit),
    // In commits that change memory.
    ahead,
    behind,
    ...(unrelated && { unrelated }),
    added: countOf(changes, 'added'),
    changed: countOf(changes, 'changed'),
    moved: countOf(changes, 'moved'),
    removed: countOf(changes, 'removed'),
    ...changesAnswer(changes),
  };
}

function branchLines(painter: Painter, branch: BranchInfo): string[] {
  const { name, current, commit, ahead, behind, unrelated, changes } = branch;
  const id = painter.paint('key', shortId(commit.oid));
  const head = `${current ? '*' : ' '} ${painter.paint('title', name)}  ${id}`;
  const first = `${head}  ${painter.fit(commit.subject, 72)}`;
  if (current) return [first];
  const counts = kinds
    .map((kind) => [countOf(changes, kind), kind] as const)
    .flatMap(([count, kind]) => (count > 0 ? `${count} ${kind}` : []));
  const records = counts.length === 0 ? 'the same records' : `records: ${counts.join(', ')}`;
  const origin = unrelated ? 'no commit in common; ' : '';
  const rest = `    ${origin}${ahead} ahead, ${behind} behind; ${records}`;
  return [first, painter.paint('faint', rest)];
}
