import { Disk } from '../disk/disk.ts';
import type { Files } from '../disk/file-layer.ts';
import { GitConfig } from './config.ts';
import { isTrue } from './config-text.ts';
import type { WorkTree } from './discover.ts';

const group = 0o660;
const everybody = 0o664;

/** The bits of `core.sharedRepository` for `sharedMode`; 0 if the umask decides. */
export function sharedBits(config: GitConfig): number {
  const value = config.get('core.sharedrepository') ?? 'umask';
  if (value === 'group') return group;
  if (/^(?:all|world|everybody)$/.test(value)) return everybody;
  if (!/^[0-7]+$/.test(value)) return isTrue(value) ? group : 0;
  const mode = Number.parseInt(value, 8);
  if (mode === 0) return 0;
  if (mode === 1) return group;
  if (mode === 2) return everybody;
  // Git refuses a mode without the rights of the owner.
  return (mode & 0o600) === 0o600 ? -(mode & 0o666) : 0;
}

/**
 * Gives new files of a work tree and of its git directory the permissions of a shared repository.
 *
 * @param bits asked for when a file is created. Default: those of the configuration at the first file.
 */
export function shareTree(disk: Disk, tree: WorkTree, bits = bitsOf(disk.files, tree)): void {
  for (const folder of [tree.commonDir, tree.top]) disk.share(folder, bits);
}

/** Returns a disk for files in the git directory of a work tree that may be lost in a power cut. */
export function unflushedDisk(files: Files, tree: WorkTree, bits?: () => number): Disk {
  const disk = new Disk(files, 'relaxed');
  shareTree(disk, tree, bits);
  return disk;
}

function bitsOf(files: Files, { gitDir, commonDir }: WorkTree): () => number {
  let known: number | undefined;
  return () => {
    const places = { gitDir, commonDir, branch: undefined, env: process.env };
    known ??= sharedBits(GitConfig.read(files, places));
    return known;
  };
}
