import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { Disk } from '../../git/disk/disk.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { storageError } from '../../git/disk/storage-error.ts';
import type { Finding } from './finding.ts';

/**
 * Tries what the file system of a git directory has, with a file that is removed again.
 *
 * @returns a finding for each feature that it lacks, or for the operation that keeps the memory from being
 *   changed.
 */
export async function checkFileSystem(files: Files, commonDir: string): Promise<Finding[]> {
  const what = 'File system';
  const own = join(commonDir, 'memory-bank');
  const disk = new Disk(files, 'full');
  try {
    const folder = files.lstat(own) ? own : commonDir;
    // The form of a token: if this process dies, the next server removes the file.
    const { links, modes, times } = disk.features(folder, `0-${randomBytes(8).toString('hex')}`);
    await disk.settle([folder]);
    const lacking = [
      ...(links ? [] : ['hard links that show the inode of their file']),
      ...(modes ? [] : ['permissions of files']),
      ...(times ? [] : ['times of files that can be set']),
      ...(disk.isFlushed(folder) ? [] : ['folders that can be flushed']),
    ];
    if (lacking.length === 0) return [];
    const text = `The one of ${commonDir} lacks ${lacking.join(', ')}. The memory works without.`;
    return [{ what, state: 'note', text }];
  } catch (error) {
    const described = storageError(error, 'try the file system');
    if (!(described instanceof MemoryError)) throw error;
    return [{ what, state: 'bad', text: described.text }];
  }
}
