import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import { isStillThere, type WorkTree } from '../repository/discover.ts';

/**
 * Refuses a commit where the memory no longer is. The caller holds the process lock, under which memories
 * are moved and reviews end.
 *
 * @param isCurrent whether the memory is still in this work tree; undefined for one that never moves.
 * @throws MemoryError `busy` if another process has moved the memory, or removed its linked work tree.
 */
export function checkInUse(
  files: Files,
  tree: WorkTree,
  isCurrent: (() => boolean) | undefined,
): void {
  const isLinked = tree.gitDir !== tree.commonDir;
  const isThere = !isLinked || isStillThere(files, tree, tree.top);
  if (isThere && isCurrent?.() !== false) return;
  throw new MemoryError(
    'busy',
    `The memory is no longer in ${tree.top}: it was moved, or its review has ended.`,
    {
      hint: 'Nothing was written. Try again: the next call finds it where it is now.',
      data: { path: tree.top },
    },
  );
}
