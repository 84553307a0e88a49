import { z } from 'zod';
import { MemoryError } from '../../core/error.ts';
import { reportDamaged } from '../../core/store.ts';
import { defineTool } from '../../core/tool.ts';
import { tellCommit } from './answer.ts';
import { path, revision } from './history-fields.ts';

/** At most this many paths are named. */
const maxPaths = 100;

export const restoreMemory = defineTool({
  name: 'restore_memory',
  title: 'Restore an earlier state',
  description:
    'Brings a record or folder back to an earlier state, as a new commit; a removed record needs no revision. Without path: all memory, with confirm.',
  effect: 'destroy',
  idempotent: true,
  input: z.object({
    path: path.optional(),
    revision: revision.optional(),
    confirm: z.boolean().optional(),
  }),
  async handle({ history }, { path, revision, confirm }) {
    if (path === undefined && confirm !== true) {
      throw new MemoryError('confirmation_required', 'This would restore the whole memory.', {
        hint: 'Give a path, or confirm: true. diff_memory tells what would change.',
      });
    }
    const { commit, restored, removed, damaged } = await history.restore(path, revision);
    return {
      as_of: tellCommit(commit),
      changed: restored.length + removed.length,
      restored: restored.slice(0, maxPaths),
      removed: removed.slice(0, maxPaths),
      ...reportDamaged(damaged),
    };
  },
});
