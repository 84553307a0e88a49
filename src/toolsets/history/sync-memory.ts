import { z } from 'zod';
import { defineTool } from '../../core/tool.ts';
import { tellChanges, tellCommit } from './answer.ts';
import { path } from './history-fields.ts';

const side = z.array(path).max(1000).optional();

export const syncMemory = defineTool({
  name: 'sync_memory',
  title: 'Sync with the remote',
  description:
    'Fetches, merges and pushes the current branch. For paths in conflict, name a side: ours or theirs.',
  effect: 'destroy',
  openWorld: true,
  input: z.object({ ours: side, theirs: side, confirm: z.boolean().optional() }),
  async handle({ history }, { ours = [], theirs = [], confirm = false }) {
    const request = { ours, theirs, confirm };
    const { upstream, commit, received, files, sent } = await history.sync(request);
    return {
      upstream,
      now: tellCommit(commit),
      received: received.length,
      ...tellChanges(received),
      ...(files > 0 && { files_outside: files }),
      sent,
    };
  },
});

export const resolveConflicts = defineTool({
  name: 'resolve_conflicts',
  title: 'Finish a merge of the memory',
  description:
    'Merges what git left in conflict, without a commit; ours, theirs: paths that one side wins.',
  effect: 'destroy',
  input: z.object({ ours: side, theirs: side }),
  async handle({ history }, { ours = [], theirs = [] }) {
    const { resolved, conflicts, edited, elsewhere, next } = await history.resolve({
      ours,
      theirs,
    });
    return {
      resolved: [...resolved],
      conflicts: conflicts.map(({ path, reasons }) => ({ path, reasons: [...reasons] })),
      edited_by_hand: [...edited],
      outside_memory: [...elsewhere],
      next: wayOut(conflicts.length, edited.length, elsewhere.length, next),
    };
  },
});

/** What is left to do. */
function wayOut(conflicts: number, edited: number, elsewhere: number, next: string | undefined) {
  if (conflicts > 0)
    return 'Name the paths in ours or theirs, or mend the files and "git add" them.';
  if (edited > 0) return 'Look through the files edited by hand and "git add" them.';
  if (elsewhere > 0) return 'Resolve the files outside the memory and "git add" them.';
  return next === undefined ? 'Nothing is left to resolve.' : `Conclude it: ${next}.`;
}
