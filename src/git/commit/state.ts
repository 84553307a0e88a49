import { join, resolve } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import type { IndexFile } from '../index/index-file.ts';
import { loadIndex } from '../index/known-index.ts';
import { objectFormats } from '../objects/object-format.ts';
import type { Refs } from '../refs/refs.ts';
import type { GitConfig } from '../repository/config.ts';
import { isTrue } from '../repository/config-text.ts';
import type { WorkTree } from '../repository/discover.ts';

/** Files in the git directory that show an operation during which other programs must not commit. */
const underWay = [
  {
    file: 'rebase-merge',
    what: 'A rebase',
    wayOut: '"git rebase --continue" or "git rebase --abort"',
  },
  {
    file: 'rebase-apply',
    what: 'A rebase or "git am"',
    wayOut: '"git rebase --continue" or "git am --continue"',
  },
  {
    file: 'MERGE_HEAD',
    what: 'A merge',
    wayOut: '"git merge --continue" or "git merge --abort"',
  },
  {
    file: 'CHERRY_PICK_HEAD',
    what: 'A cherry-pick',
    wayOut: '"git cherry-pick --continue" or "--abort"',
  },
  {
    file: 'REVERT_HEAD',
    what: 'A revert',
    wayOut: '"git revert --continue" or "git revert --abort"',
  },
  {
    file: 'sequencer',
    what: 'A cherry-pick or revert',
    wayOut: '"git cherry-pick --continue" or "--abort"',
  },
  {
    file: 'SQUASH_MSG',
    what: 'A squash merge',
    wayOut: '"git commit", or "git reset --merge" to drop it',
  },
  {
    file: 'BISECT_START',
    what: 'A bisect',
    wayOut: '"git bisect reset"',
  },
] as const;

/** Extensions that say how objects and refs are stored; git reads them from format version 1 on. */
const storageExtensions = ['compatobjectformat', 'objectformat', 'refstorage'];

/** Extensions that do not affect our writes, or that `checkStorage` checks (gitrepository-layout). */
const knownExtensions = new Set([
  ...storageExtensions,
  'noop',
  'noop-v1',
  'partialclone',
  'preciousobjects',
  'relativeworktrees',
  'submodulepathconfig',
  'worktreeconfig',
]);

/** Whether the format of refs and objects is a known one. */
export function isKnownStorage(config: GitConfig): boolean {
  try {
    checkStorage(config);
    return true;
  } catch (error) {
    if (error instanceof MemoryError) return false;
    throw error;
  }
}

/**
 * Refuses a repository with an unknown format of objects or refs, whose history cannot be read.
 *
 * @throws MemoryError `unsupported` with the reason and the way out.
 */
export function checkStorage(config: GitConfig): void {
  const what = 'The history of this repository can be neither read nor written';
  const extensions = config.repositorySection('extensions');
  const objects = extensions.get('objectformat')?.toLowerCase() ?? 'sha1';
  if (!objectFormats.has(objects)) {
    throw new MemoryError('unsupported', `${what}: its object ids are ${objects}.`, {
      hint: 'Update this program, or set --root to another repository.',
    });
  }
  const given = extensions.get('refstorage') ?? 'files';
  const [, form, folder] = /^(files|reftable):\/\/(.+)$/.exec(given) ?? [];
  if (folder !== undefined) {
    throw new MemoryError('unsupported', `${what}: its refs are in another folder, ${folder}.`, {
      hint: `Copy what is in that folder into the git directory, and run ${setting(`extensions.refStorage ${form}`)} there.`,
    });
  }
  const refs = given.toLowerCase();
  if (refs !== 'files' && refs !== 'reftable') {
    throw new MemoryError('unsupported', `${what}: its refs are stored as ${refs}.`, {
      hint: 'Update this program, or set --root to another repository.',
    });
  }
}

/**
 * Refuses a repository whose format cannot be written safely.
 *
 * @throws MemoryError `unsupported` with the reason and the way out.
 */
export function checkFormat(config: GitConfig, tree: WorkTree): void {
  checkStorage(config);
  if (config.problem !== undefined) {
    throw unsupported(config.problem, 'Git refuses this environment as well. Correct it.');
  }
  const objects = config.env.GIT_OBJECT_DIRECTORY;
  if (objects && resolve(tree.top, objects) !== join(tree.commonDir, 'objects')) {
    throw unsupported(
      `GIT_OBJECT_DIRECTORY puts its objects in ${objects}`,
      `Start this program without that variable. If git has stored objects there, name that folder in ${join(tree.commonDir, 'objects/info/alternates')}.`,
    );
  }
  const own = config.repositorySection('core');
  const version = Number(own.get('repositoryformatversion') ?? '0');
  if (version > 1) {
    throw unsupported(`its format version is ${version}`, 'Update this program.');
  }
  // Like git, which reads these for the main work tree only, unless each work tree has its own settings.
  const isOfMain = tree.gitDir === tree.commonDir || config.hasWorktreeSettings;
  if (isOfMain && isTrue(own.get('bare') ?? '')) {
    throw unsupported(
      `the git directory ${tree.gitDir} is bare, and ${tree.top} is not one of its linked work trees`,
      'Start the server in a linked work tree: "git worktree list" lists them, "git worktree add <folder> <branch>" makes one.',
    );
  }
  const workTree = isOfMain ? own.get('worktree') : undefined;
  if (workTree !== undefined && resolve(tree.gitDir, workTree) !== tree.top) {
    throw unsupported(
      `core.worktree puts its files in ${workTree}`,
      `Write "gitdir: ${tree.gitDir}" into a file .git in that folder, and start the server there.`,
    );
  }
  const extensions = config.repositorySection('extensions');
  if (extensions.has('compatobjectformat')) {
    throw unsupported(
      'its objects have ids of a second format as well (extensions.compatObjectFormat)',
      // Not by a command: a git without this feature refuses each in such a repository.
      `To use ids of one format only, remove the line "compatObjectFormat" from ${join(tree.commonDir, 'config')}.`,
    );
  }
  // Like git, which ignores other extensions in a repository of version 0.
  if (version === 0) {
    const name = storageExtensions.find((extension) => extensions.has(extension));
    if (name === undefined) return;
    throw unsupported(
      `git refuses the extension "${name}" in format version 0`,
      `Run ${setting('core.repositoryFormatVersion 1')} in ${tree.commonDir}.`,
    );
  }
  for (const name of extensions.keys()) {
    if (knownExtensions.has(name)) continue;
    throw unsupported(`the extension "${name}" is not known`, 'Update this program.');
  }
}

/** The command that changes a setting in a git directory, also where git refuses the repository. */
function setting(change: string): string {
  return `"git config --file config ${change}"`;
}

/** The operation under way and the command that ends it; undefined if there is none. */
export function underWayIn(files: Files, gitDir: string, { store }: Refs) {
  const names = new Set(files.list(gitDir)?.map(({ name }) => name));
  const refs = store.pseudoRefs();
  return underWay.find(({ file }) => names.has(file) || refs.has(file));
}

/**
 * Refuses to commit during a merge, rebase, cherry-pick, revert or bisect.
 *
 * @throws MemoryError `busy` with the way out.
 */
export function checkIdle(files: Files, tree: WorkTree, refs: Refs): void {
  const found = underWayIn(files, tree.gitDir, refs);
  if (!found) return;
  const first = hasUnmerged(files, tree) ? `${mergeHint} Then finish it` : 'Finish it first';
  throw new MemoryError('busy', `${found.what} is under way in this repository.`, {
    hint: `${first}: ${found.wayOut}. Reading still works.`,
    data: { state: found.file },
  });
}

/**
 * Refuses an index with unmerged files.
 *
 * @throws MemoryError `busy` with the way out.
 */
export function checkMerged({ unmerged }: IndexFile): void {
  if (!unmerged) return;
  throw new MemoryError('busy', 'The index of this repository holds unmerged files.', {
    hint: `${mergeHint} Resolve other files with "git add", or undo with "git reset --merge". Reading still works.`,
  });
}

const mergeHint = 'resolve_conflicts merges records in conflict.';

function hasUnmerged(files: Files, tree: WorkTree): boolean {
  try {
    return loadIndex(files, tree).unmerged;
  } catch (error) {
    if (error instanceof MemoryError) return false;
    throw error;
  }
}

function unsupported(reason: string, hint: string): MemoryError {
  return new MemoryError('unsupported', `This repository cannot be written to: ${reason}.`, {
    hint,
  });
}
