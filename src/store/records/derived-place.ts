import type { Oid } from '../../git/objects/object.ts';
import type { DerivedPlace } from '../derived/derived-file.ts';
import { treeState, workTreeState } from '../derived/derived-name.ts';
import type { MemoryFolder } from './memory-folder.ts';

/**
 * Returns the place of the files that are derived from a memory; undefined if it is in no repository.
 *
 * @param tree of a commit; undefined for the work tree.
 */
export function derivedPlace(memory: MemoryFolder, tree?: Oid): DerivedPlace | undefined {
  const repository = memory.repository();
  if (!repository) return undefined;
  const own = workTreeState(memory.realPath());
  const state = tree === undefined ? own : treeState(tree);
  return { disk: repository.unflushed, folder: repository.folder, state, inUse: [own, state] };
}
