import { join, sep } from 'node:path';
import { lookThrough, NodeFiles } from '../../git/disk/file-layer.ts';
import { findWorkTree } from '../../git/repository/discover.ts';

/** The repository that a project's memory is committed to, as a person wants it told. */
export interface RepositoryKind {
  /** The top of its work tree. */
  readonly top: string;
  /** Where HEAD and the index lie. */
  readonly gitDir: string;
  /** Where the objects, the branches and the configuration lie. */
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
 * The repository around a folder; undefined where there is none, so that the first write makes one.
 *
 * @throws MemoryError `unsupported` where `.git` leads nowhere.
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
