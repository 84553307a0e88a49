import { isAbsolute, join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import { GitConfig } from './config.ts';
import { expandHome } from './config-condition.ts';

const root = 0n;

/**
 * Refuses a repository of another user, as git does (git-config, safe.directory): files that are written
 * there would belong to this user, and stop the owner's git.
 *
 * @param top of the work tree, without links.
 * @param gitDir the git directory; undefined if there is none yet.
 * @throws MemoryError `unsupported` that names the owner.
 */
export function checkOwner(
  files: Files,
  top: string,
  gitDir: string | undefined,
  env: NodeJS.ProcessEnv,
): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  const dotGit = join(top, '.git');
  const isPointer = gitDir !== undefined && files.lstat(dotGit)?.kind === 'file';
  const paths = gitDir === undefined ? [top] : [top, dotGit, ...(isPointer ? [gitDir] : [])];
  const path = paths.find((one) => !isOwn(files, one, BigInt(user), env));
  if (path === undefined || isSafe(files, top, env)) return;
  const owner = ownerOf(files, path);
  throw new MemoryError(
    'unsupported',
    `${path} belongs to another user (uid ${owner}), and this process runs as uid ${user}.`,
    {
      hint: `Git refuses the repository as well. Run this program as its owner or, if you trust the repository, run "git config --global --add safe.directory ${top}".`,
      data: { path, owner: Number(owner) },
    },
  );
}

function ownerOf(files: Files, path: string): bigint | undefined {
  return files.lstatExact(path)?.uid;
}

/** Whether this user owns a path; with sudo, the user who called it counts instead of root. */
function isOwn(files: Files, path: string, user: bigint, env: NodeJS.ProcessEnv): boolean {
  const owner = ownerOf(files, path);
  if (owner === undefined || owner === user) return true;
  return user === root && /^\d+$/.test(env.SUDO_UID ?? '') && owner === BigInt(env.SUDO_UID ?? '');
}

/** Whether the user's own configuration trusts a work tree. Settings of the repository do not count. */
function isSafe(files: Files, top: string, env: NodeJS.ProcessEnv): boolean {
  let isTrusted = false;
  for (const value of GitConfig.ofUser(files, env).ownAll('safe.directory')) {
    if (value === '') isTrusted = false;
    else if (value === '*' || isWithin(files, top, value)) isTrusted = true;
  }
  return isTrusted;
}

/** Whether a value names a work tree; with `/*` at its end, the folders below the one that it names. */
function isWithin(files: Files, top: string, value: string): boolean {
  const path = value === '.' ? process.cwd() : expandHome(value);
  if (!isAbsolute(path)) return false;
  const isAbove = path.endsWith('/*');
  const real = files.realpath(isAbove ? path.slice(0, -1) : path);
  if (real === undefined) return false;
  return isAbove ? top.startsWith(real.endsWith('/') ? real : `${real}/`) : top === real;
}
