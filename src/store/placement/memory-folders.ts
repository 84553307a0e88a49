import { join, relative, sep } from 'node:path';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import type { RepositoryOptions } from '../../git/commit/repository-options.ts';
import type { Disk } from '../../git/disk/disk.ts';
import type { WorkTree } from '../../git/repository/discover.ts';

/** The dependencies of everything that finds or moves memories. */
export interface PlacesOptions extends RepositoryOptions {
  readonly disk: Disk;
}

/** The folder of the linked work tree of a branch of the memory. */
export function treeFolder(commonDir: string, branch: string): string {
  return join(commonDir, 'memory-bank', 'trees', encodeURIComponent(branch));
}

/** Whether a memory folder is in the work tree of a review. */
export function isReviewFolder(folder: string): boolean {
  return folder.includes(treeFolder('', reviewBranches));
}

/** The path of the memory folder of a project in the trees of its repository. */
export function folderIn(tree: WorkTree, root: string): string {
  return join(relative(tree.top, root), memoryFolderName).split(sep).join('/');
}
