import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { Disk } from '../disk/disk.ts';
import type { Files } from '../disk/file-layer.ts';
import { storageError } from '../disk/storage-error.ts';
import { indexPath, loadIndex } from '../index/known-index.ts';
import { OwnedNames } from '../locks/owned-names.ts';
import { isLocal } from '../locks/process-lock.ts';
import { isDead } from '../locks/token.ts';
import { identity } from '../refs/identity.ts';
import { Refs } from '../refs/refs.ts';
import { GitConfig } from '../repository/config.ts';
import { Conversions } from '../repository/conversions.ts';
import type { WorkTree } from '../repository/discover.ts';
import { IgnoreRules } from '../repository/ignore.ts';
import { checkOwner } from '../repository/owner.ts';
import { openObjects } from '../repository/repository-format.ts';
import { planCommits } from './commit-plan.ts';
import { missingFolders } from './placement.ts';
import { stagedIn } from './prepare.ts';
import { checkSigning } from './signing.ts';
import { checkFormat, checkIdle, checkMerged, isKnownStorage } from './state.ts';

/**
 * Lists what prevents a file from being written and committed, each with a hint; except locks. It makes
 * the checks of a commit and writes nothing.
 *
 * @param path of the file, relative to the top of the work tree.
 */
export function writeRefusals(
  files: Files,
  tree: WorkTree,
  config: GitConfig,
  env: NodeJS.ProcessEnv,
  path: string,
): MemoryError[] {
  return failures([
    () => checkFolders(files, tree.top, path),
    () => checkCommit(files, tree, config, path),
    () => checkIdle(files, tree, new Refs(files, tree.gitDir, tree.commonDir)),
    () => checkSigning(config, env),
    () => new IgnoreRules(files, tree, config, env).check([path]),
    // The rules can be in the index, which cannot be read in another format.
    () => isKnownStorage(config) && checkConversions(files, tree, config, env, path),
  ]);
}

/** The same for a folder that is not in a repository yet. */
export function firstWriteRefusals(
  files: Files,
  folder: string,
  env: NodeJS.ProcessEnv,
  path: string,
): MemoryError[] {
  const gitDir = join(folder, '.git');
  const tree = { top: folder, gitDir, commonDir: gitDir };
  const config = GitConfig.read(files, { ...tree, branch: undefined, env });
  return failures([
    () => checkOwner(files, folder, undefined, env),
    () => checkFolders(files, folder, path),
    () => checkConversions(files, tree, config, env, path),
  ]);
}

/** Files as a memory has them: rules can be for one kind only. */
const usualFiles = ['activeContext.md', 'knowledge/patterns/entry.md', 'graph/tasks/task.yaml'];

/** Looks at the file, and at usual files next to it. */
function checkConversions(
  files: Files,
  tree: WorkTree,
  config: GitConfig,
  env: NodeJS.ProcessEnv,
  path: string,
): void {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const index = loadIndex(files, tree);
  const odb = openObjects(new Disk(files, 'relaxed'), tree.commonDir);
  try {
    const paths = [path, ...usualFiles.map((name) => folder + name)];
    new Conversions(files, tree, config, env).check(paths, stagedIn(odb, index));
  } finally {
    odb.close();
  }
}

function failures(checks: readonly (() => unknown)[]): MemoryError[] {
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (thrown) {
      const error = storageError(thrown, 'look at the repository');
      if (error instanceof MemoryError) return [error];
      throw error;
    }
  });
}

function checkFolders(files: Files, top: string, path: string): void {
  const placement = { path, bytes: Buffer.alloc(0), seen: undefined, mode: 0 };
  missingFolders(new Disk(files, 'relaxed'), top, [placement]);
}

/** Plans a commit of the file. Each step can be checked only after the previous ones. */
function checkCommit(files: Files, tree: WorkTree, config: GitConfig, path: string): void {
  checkFormat(config, tree);
  const index = loadIndex(files, tree);
  checkMerged(index);
  const head = new Refs(files, tree.gitDir, tree.commonDir).head();
  const seen = files.read(join(tree.top, path));
  const changes = [{ path, seen, bytes: Buffer.alloc(0) }];
  const time = new Date();
  const author = identity(config, 'author', time);
  const committer = identity(config, 'committer', time);
  const odb = openObjects(new Disk(files, 'relaxed'), tree.commonDir);
  try {
    planCommits(odb, head, index, [{ changes, message: '' }], { author, committer });
  } finally {
    odb.close();
  }
}

/** A lock that a change of the memory needs. */
export interface FoundLock {
  readonly path: string;
  readonly since: Date;
  /** For a lock of ours: its holder, and whether that is proved dead. */
  readonly holder?: { readonly pid: number; readonly gone: boolean };
}

/** The current locks: git's own, and the process lock of the servers. */
export function foundLocks(disk: Disk, { gitDir, commonDir }: WorkTree): FoundLock[] {
  const { files } = disk;
  const refs = new Refs(files, gitDir, commonDir);
  const branch = refs.branch();
  const targets = [indexPath(files, { gitDir }), ...refs.store.lockedFiles(branch)];
  const folder = join(commonDir, 'memory-bank');
  const own = join(folder, 'lock');
  return [...targets.map((target) => `${target}.lock`), own].flatMap((path) => {
    const stat = files.lstat(path);
    if (!stat) return [];
    const since = new Date(stat.mtimeMs);
    const token = path === own && new OwnedNames(disk, folder).holder('lock');
    if (!token) return [{ path, since }];
    return [{ path, since, holder: { pid: token.pid, gone: isDead(token, isLocal(folder)) } }];
  });
}
