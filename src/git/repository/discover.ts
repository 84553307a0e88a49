import { dirname, isAbsolute, join, resolve } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import { checkOwner } from './owner.ts';

/** Size limit of a file `.git` that points to a git directory, in bytes. */
export const maxPointer = 64 * 1024;

/** A work tree and the git directories that belong to it. */
export interface WorkTree {
  /** Absolute path of the work tree's top folder, links resolved. */
  readonly top: string;
  /** HEAD, index and logs of this work tree. */
  readonly gitDir: string;
  /** Objects, refs and configuration; differs from `gitDir` only in a linked work tree. */
  readonly commonDir: string;
}

/**
 * Finds the work tree that contains a folder: a plain repository, a submodule or a linked work tree.
 *
 * @param start absolute path; need not exist.
 * @param env with the user who called `sudo`, and the places of the user's configuration.
 * @returns undefined outside any work tree.
 * @throws MemoryError `unsupported` in a bare repository, in a git directory and in a repository of
 *   another user, as git does.
 */
export function findWorkTree(
  files: Files,
  start: string,
  env: NodeJS.ProcessEnv = process.env,
): WorkTree | undefined {
  let folder = existing(files, start);
  for (;;) {
    const gitDir = gitDirOf(files, join(folder, '.git'));
    if (gitDir !== undefined) {
      checkOwner(files, folder, gitDir, env);
      return { top: folder, gitDir, commonDir: commonDirOf(files, gitDir) };
    }
    if (isGitDir(files, folder)) {
      throw new MemoryError('unsupported', `${folder} is a git directory, not a work tree.`, {
        hint: 'Start the server in a work tree. For a bare repository, "git worktree add <folder> <branch>" makes one.',
      });
    }
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

/**
 * Whether a work tree would still be found from a folder; cheaper than finding it.
 *
 * @param start absolute path, links resolved.
 */
export function isStillThere(files: Files, tree: WorkTree, start: string): boolean {
  for (let folder = start; folder !== tree.top; folder = dirname(folder)) {
    if (folder === dirname(folder) || files.lstat(join(folder, '.git'))) return false;
  }
  return (
    files.lstat(join(tree.top, '.git')) !== undefined &&
    files.lstat(join(tree.gitDir, 'HEAD')) !== undefined
  );
}

/** The nearest folder at or above a path that exists, links resolved. */
function existing(files: Files, path: string): string {
  let folder = resolve(path);
  for (;;) {
    const real = files.realpath(folder);
    if (real !== undefined) return files.lstat(real)?.kind === 'directory' ? real : dirname(real);
    folder = dirname(folder);
  }
}

function gitDirOf(files: Files, dotGit: string): string | undefined {
  const real = files.realpath(dotGit);
  if (real === undefined) return undefined;
  const stat = files.lstat(real);
  if (stat?.kind === 'directory') return isGitDir(files, real) ? real : undefined;
  // Like git, which continues in the parent if `.git` is neither a folder nor a file.
  if (stat?.kind !== 'file' || stat.size > maxPointer) return undefined;
  const pointer = /^gitdir: (.+?)\s*$/.exec(
    files.read(real, maxPointer)?.toString('utf8') ?? '',
  )?.[1];
  if (pointer === undefined) return undefined;
  const path = isAbsolute(pointer) ? pointer : join(dirname(real), pointer);
  const target = files.realpath(path);
  if (target === undefined || !isGitDir(files, target)) {
    throw new MemoryError(
      'unsupported',
      `${dotGit} points to ${path}, which is not a git directory.`,
      {
        hint: 'If the repository was moved, run "git worktree repair" in it.',
      },
    );
  }
  return target;
}

function isGitDir(files: Files, path: string): boolean {
  if (files.lstat(join(path, 'HEAD')) === undefined) return false;
  const common = commonDirOf(files, path);
  return (
    files.lstat(join(common, 'objects')) !== undefined &&
    files.lstat(join(common, 'refs')) !== undefined
  );
}

function commonDirOf(files: Files, gitDir: string): string {
  const text = files.read(join(gitDir, 'commondir'))?.toString('utf8').trim();
  if (text === undefined || text === '') return gitDir;
  const path = isAbsolute(text) ? text : join(gitDir, text);
  return files.realpath(path) ?? path;
}
