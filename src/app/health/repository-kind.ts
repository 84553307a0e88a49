import { join, sep } from 'node:path';
import { lookThrough } from '../../git/disk/file-layer.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { findWorkTree } from '../../git/repository/discover.ts';

/** Human-readable description of the repository that holds the memory. */
export interface RepositoryKind {
  /** The top of its work tree. */
  readonly top: string;
  /** The directory of HEAD and the index. */
  readonly gitDir: string;
  /** The directory of the objects, the branches and the configuration. */
  readonly commonDir: string;
  readonly kind:
    | 'repository'
    | 'linked work tree'
    | 'submodule'
    | 'repository with its .git elsewhere';
  /** Whether old commits are missing. */
  readonly shallow: boolean;
}

/**
 * Describes the repository around a folder; undefined if the first write would create one.
 *
 * @throws MemoryError `unsupported` if `.git` names a missing directory.
 */
export async function repositoryKind(root: string): Promise<RepositoryKind | undefined> {
  const files = new NodeFiles();
  const tree = findWorkTree(files, root);
  if (!tree) return undefined;
  const { top, gitDir, commonDir } = tree;
  const kind =
    gitDir !== commonDir
      ? 'linked work tree'
      : gitDir === join(top, '.git')
        ? 'repository'
        : gitDir.includes(`${sep}.git${sep}modules${sep}`)
          ? 'submodule'
          : 'repository with its .git elsewhere';
  const list = lookThrough(files, join(commonDir, 'shallow'));
  const shallow = list?.kind === 'file' && list.size > 0;
  return { top, gitDir, commonDir, kind, shallow };
}
