import { join } from 'node:path';
import { MemoryError } from '../core/error.ts';
import type { GitConfig } from './config.ts';
import type { WorkTree } from './discover.ts';
import type { Files } from './files.ts';
import { IgnoreRules } from './ignore.ts';
import { IndexFile } from './index-file.ts';
import { isLocal } from './process-lock.ts';
import { Refs } from './refs.ts';
import { checkFormat, checkIdle, checkMerged } from './state.ts';
import { isDead, parseToken } from './token.ts';

/**
 * What keeps a file from being committed to a repository, each with the way out; locks aside.
 *
 * @param path of the file, relative to the top of the work tree.
 */
export function obstacles(
  files: Files,
  tree: WorkTree,
  config: GitConfig,
  env: NodeJS.ProcessEnv,
  path: string,
): MemoryError[] {
  const checks = [
    () => checkFormat(config, tree),
    () => checkIdle(files, tree.gitDir),
    () => checkMerged(new IndexFile(files.read(join(tree.gitDir, 'index')))),
    () => new IgnoreRules(files, tree, config, env).check([path]),
  ];
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      if (error instanceof MemoryError) return [error];
      throw error;
    }
  });
}

/** A lock on what a change of the memory needs. */
export interface FoundLock {
  readonly path: string;
  readonly since: Date;
  /** Of a lock of ours: who made it, and whether he is proved to be gone. */
  readonly holder?: { readonly pid: number; readonly gone: boolean };
}

/** The locks that are there now: git's own, and the one by which servers keep apart. */
export function foundLocks(files: Files, { gitDir, commonDir }: WorkTree): FoundLock[] {
  const refs = new Refs(files, gitDir, commonDir);
  const branch = refs.branch();
  const targets = [
    join(gitDir, 'index'),
    join(gitDir, 'HEAD'),
    ...(branch === undefined ? [] : [join(refs.folderOf(branch), branch)]),
  ];
  const folder = join(commonDir, 'memory-bank');
  const own = join(folder, 'lock');
  return [...targets.map((target) => `${target}.lock`), own].flatMap((path) => {
    const stat = files.lstat(path);
    if (!stat) return [];
    const since = new Date(stat.mtimeMs);
    const token = path === own && parseToken(files.read(path)?.toString('utf8') ?? '');
    if (!token) return [{ path, since }];
    return [{ path, since, holder: { pid: token.pid, gone: isDead(token, isLocal(folder)) } }];
  });
}
