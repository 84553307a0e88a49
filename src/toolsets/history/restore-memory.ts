import * as z from 'zod';
import { defineOperation } from '../../core/declarations/tool.ts';
import { reportDamaged } from '../../core/memory/answer-fields.ts';
import type { CommitInfo } from '../../core/memory/commit-log.ts';
import { MemoryError } from '../../core/values/error.ts';
import { commitAnswer, cutText, shortId, withinBudget } from './answer.ts';
import { forPeople, path, revision } from './history-fields.ts';

interface RestoreRequest {
  readonly path?: string | undefined;
  readonly revision?: string | undefined;
  readonly confirm?: boolean | undefined;
}

/** Maximum number of paths that an answer names. */
export const maxPaths = 100;

/** Limit of the undone commits in an answer, in bytes. */
const undoneBudget = 4000;

function undoneAnswer({ oid, author, subject }: CommitInfo) {
  return { commit: shortId(oid), author: cutText(author), subject: cutText(subject) };
}

function changesText(changes: number): string {
  return changes === 0 ? 'nothing to restore: it is' : `${changes} changed,`;
}

export const restoreMemory = defineOperation({
  name: 'restore_memory',
  title: 'Restore memory',
  description:
    'Undo the last change, or bring back a record that was deleted (needs no revision), a section or folder, as a new commit. Without path: all memory, with confirm.',
  effect: 'destroy',
  idempotent: true,
  input: z.object({
    path: path.optional(),
    revision: revision.optional(),
    confirm: z.boolean().optional(),
  }),
  async run({ history }, { path, revision, confirm }: RestoreRequest) {
    if (path === undefined && confirm !== true) {
      throw new MemoryError('confirmation_required', 'This would restore the whole memory.', {
        hint: 'Give a path, or confirm: true. diff_memory shows what would change.',
      });
    }
    return history.restore(path, revision);
  },
  answer({ commit, restored, removed, undone, damaged }) {
    return {
      as_of: commitAnswer(commit),
      changed: restored.length + removed.length,
      restored: restored.slice(0, maxPaths),
      removed: removed.slice(0, maxPaths),
      ...(undone.length > 0 && {
        undone: withinBudget(undone.map(undoneAnswer), undoneBudget),
        undone_commits: undone.length,
      }),
      ...reportDamaged(damaged),
    };
  },
  command: {
    name: 'restore',
    about:
      'bring records back to an earlier state; a record, a section of one or a folder; restore-memory takes all memory',
    operands: ['path'],
    options: { revision: 'as-of' },
    input: z.object({
      path: forPeople.path,
      revision: forPeople.revision
        .optional()
        .describe('the commit, branch or date; a record that is gone needs none'),
    }),
    show: ({ commit, restored, removed, undone, damaged }, painter) => [
      ...restored.map((one) => painter.paint('good', `restored ${one}`)),
      ...removed.map((one) => painter.paint('bad', `removed ${one}`)),
      ...damaged.map(({ error }) =>
        painter.paint('bad', `cannot be read: ${painter.message(error.text)}`),
      ),
      `${changesText(restored.length + removed.length)} as of ${shortId(commit.oid)}  ${painter.plain(commit.subject)}`,
      ...undone.map(({ oid, author, subject }) =>
        painter.paint('bad', `undid ${shortId(oid)} ${author}: ${subject}`),
      ),
    ],
  },
});
