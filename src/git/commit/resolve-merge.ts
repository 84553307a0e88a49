import { dirname, relative } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { IndexChange, Unmerged } from '../index/index-file.ts';
import { indexOf, indexPath, writeIndex } from '../index/known-index.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import { noObject } from '../objects/object-format.ts';
import { endJournal, writeJournal } from './journal.ts';
import type { MutationSite } from './mutation.ts';
import {
  FileChangedError,
  makeFolders,
  missingFolders,
  type Placement,
  placeFiles,
  stageFiles,
  stagingPath,
} from './placement.ts';

/** The resolution of an unmerged file. */
export interface ResolvedFile extends Placement {
  /** Whether it is merged: it gets one line in the index, or none if it is removed. */
  readonly staged: boolean;
}

/** Resolves unmerged files; files that are left out stay unmerged. */
export type ResolveMerge = (unmerged: readonly Unmerged[]) => Promise<readonly ResolvedFile[]>;

/**
 * Writes resolved files into the work tree and the index, under git's lock of the index.
 *
 * @throws MemoryError `busy` when the user changed a file meanwhile, and others. Some files may have
 *   their new content then; the index is unchanged, and a retry does the rest.
 */
export async function resolveMerge(
  site: MutationSite,
  settle: ResolveMerge,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  const { disk, odb, folder, commonDir, tree } = site;
  const target = indexPath(disk.files, tree);
  const lock = await GitLock.take(disk, target, 'index', folder, token, wait);
  try {
    const index = indexOf(disk.files, tree, odb.format);
    const files = await settle(index.unmergedBelow(''));
    if (files.length === 0) return;
    const folders = missingFolders(disk, tree.top, files);
    // No commit has this id, so recovery by this journal only removes temporary files.
    const none = noObject(odb.format);
    await writeJournal(disk, folder, {
      token: token.id,
      top: relative(commonDir, tree.top),
      gitDir: relative(commonDir, tree.gitDir),
      ref: undefined,
      parent: none,
      commit: none,
      files: files.map(({ path, mode }) => {
        return { path, mode, before: undefined, after: undefined, indexed: undefined };
      }),
      logs: [],
      logLines: '',
      folders,
    });
    const staged = await stageFiles(disk, tree.top, files, (i) => stagingPath(folder, token.id, i));
    const changed = new Set<string>();
    makeFolders(disk, tree.top, folders, changed);
    const stats = await placeFiles(disk, tree.top, token, files, staged, changed);
    const set: IndexChange[] = [];
    const remove: string[] = [];
    const blobs = [];
    for (const { path, bytes, mode, staged } of files) {
      if (!staged) continue;
      if (bytes === undefined) {
        remove.push(path);
        continue;
      }
      const blob = odb.encode('blob', bytes);
      blobs.push(blob);
      set.push({ path, oid: blob.oid, mode, stat: stats.get(path) });
    }
    const stored = await odb.write(blobs);
    await writeIndex(site, index, { set, remove, trees: [] }, lock);
    await disk.settle([...changed, ...stored]);
    lock.commit(target);
    await disk.settle([dirname(target)]);
    endJournal(disk, folder, token.id);
  } catch (error) {
    if (!(error instanceof FileChangedError)) throw error;
    throw new MemoryError('busy', 'A memory file changed while its merge was being resolved.', {
      hint: 'Try again.',
    });
  } finally {
    lock.release();
  }
}
