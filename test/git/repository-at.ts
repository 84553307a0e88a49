import { join } from 'node:path';
import { expect } from 'vitest';
import type { MutationCaller } from '../../src/git/commit/commit-waits.ts';
import { Repository } from '../../src/git/commit/repository.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { findWorkTree } from '../../src/git/repository/discover.ts';
import { litter } from '../faults/place.ts';
import { gitEnv, type Repo } from '../support/repo.ts';

/** Opens the repository around a folder. */
export function open(
  root: string,
  options: {
    lockTimeout?: number;
    calm?: number;
    files?: Files;
    isCurrent?: () => boolean;
    env?: NodeJS.ProcessEnv;
  } = {},
): Repository {
  const { files = new NodeFiles() } = options;
  const env = { ...gitEnv, ...options.env };
  const tree = findWorkTree(files, root, env);
  if (!tree) throw new Error('no work tree');
  return new Repository(new Disk(files, 'full'), tree, {
    env,
    now: () => new Date(Date.UTC(2026, 0, 2, 3, 4, 5)),
    lockTimeout: options.lockTimeout ?? 300,
    calm: options.calm ?? 0,
    isCurrent: options.isCurrent,
    warn: (message) => {
      throw new Error(message);
    },
  });
}

/** Commits files as the store does: what is on disk now counts as seen. */
export function put(
  repository: Repository,
  files: { [path: string]: string | undefined },
  message = 'm',
  caller?: MutationCaller,
) {
  const disk = new NodeFiles();
  const propose = async () => ({
    message: `${message}\n`,
    changes: Object.entries(files).map(([path, text]) => ({
      path,
      bytes: text === undefined ? undefined : Buffer.from(text),
      seen: disk.read(join(repository.tree.top, path)),
    })),
  });
  return repository.commit(propose, caller);
}

/** Checks that git finds no damage and that nothing of ours is left behind. */
export function expectClean(repo: Repo): void {
  expect(repo.fsck()).toBe('');
  expect(litter(repo.root)).toEqual([]);
}
