import { statSync } from 'node:fs';
import type { Stat } from '../../src/git/disk/file-layer.ts';
import { FaultFiles, type FaultPlan, type Operation, operations } from './fault-files.ts';
import { slashed } from './slashed.ts';

/** The operations of the file layer, and the fsync of a folder, which some systems refuse on its own. */
export type Refusable = Operation | 'fsync of a folder';

/** The operations that a change does without. */
export const dispensable: readonly Refusable[] = [
  'link',
  'chmod',
  'utimes',
  'truncate',
  'rmdir',
  'fsync of a folder',
];

/** The operations that a change needs. */
export const needed: readonly Refusable[] = operations.filter(
  (operation) => !dispensable.includes(operation),
);

/** The codes with which file systems refuse what they do not have. */
export const codes = ['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP', 'EINVAL'] as const;

/** A disk that refuses all operations of some kinds. */
export function refusing(
  operations: readonly Refusable[],
  code: string,
  then: FaultPlan = () => undefined,
): FaultFiles {
  const refused = new Set<Refusable>(operations);
  const files = new FaultFiles((n, operation) => {
    const path = files.log.at(-1)?.replace(/^\w+ /, '') ?? '';
    // The files of the program are on another disk.
    const isRefused = !path.startsWith(slashed(process.cwd())) && isRefusedAt(operation, path);
    return then(n, operation) ?? (isRefused ? { kind: 'error', code } : undefined);
  });
  const isRefusedAt = (operation: Operation, path: string) => {
    if (refused.has(operation)) return true;
    if (operation !== 'fsync' || !refused.has('fsync of a folder')) return false;
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  };
  return files;
}

/** A disk on which each path has an inode of its own, so that a link does not show that of its file. */
export class InodeOfPath extends FaultFiles {
  override lstat(path: string): Stat | undefined {
    const stat = super.lstat(path);
    return stat && { ...stat, ino: inodeOf(path), links: 1 };
  }

  override hasStat(path: string, stat: Stat): boolean {
    const found = this.lstat(path);
    return found?.size === stat.size && found.mtimeMs === stat.mtimeMs && found.ino === stat.ino;
  }
}

function inodeOf(path: string): number {
  let hash = 5381;
  for (const char of path) hash = (Math.imul(hash, 33) + (char.codePointAt(0) ?? 0)) >>> 0;
  return hash + 1;
}
