import { hasTables } from './repo.ts';

/** The file by whose replacement a branch moves: its own, or the list of all tables. */
export function refFile(branch: string): string {
  return hasTables ? '.git/reftable/tables.list' : `.git/refs/heads/${branch}`;
}

/** The files that lock a branch and the HEAD in a git directory. */
export function refLocks(branch: string, gitDir = '.git'): string[] {
  const ofHead = hasTables ? `${gitDir}/reftable/tables.list.lock` : `${gitDir}/HEAD.lock`;
  return [...new Set([`${refFile(branch)}.lock`, ofHead])];
}

/** All files that lock a change of a branch: those of git, and our own. */
export function changeLocks(branch: string): string[] {
  return ['.git/index.lock', ...refLocks(branch), '.git/memory-bank/lock'];
}

/** The operation of the disk that takes the first lock of a change. */
export const locking = hasTables ? /^link .*\/tables\.list\.lock$/ : /^link .*\/HEAD\.lock$/;

/** The operation of the disk that moves a branch. */
export function moving(branch: string): RegExp {
  return new RegExp(`^rename .*/${refFile(branch)}$`);
}

/** The operation of the disk that releases a lock after a branch has moved. */
export const releasing = hasTables ? /^unlink .*\/memory-bank\/ref-/ : /^unlink .*\/HEAD\.lock$/;
