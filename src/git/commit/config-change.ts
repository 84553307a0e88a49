import { dirname, join } from 'node:path';
import { throughLink } from '../disk/file-layer.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import { maxConfigSize } from '../repository/config.ts';
import { type ConfigSection, inBytes, replaceSection } from '../repository/config-edit.ts';
import type { RepositorySite } from './recovery.ts';

/**
 * Changes a section of the configuration that all work trees share, under git's lock of that file. Like
 * the other locks of a change, it is removed if this process dies.
 */
export async function changeConfig(
  { disk, commonDir, folder }: RepositorySite,
  section: ConfigSection,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  const { files } = disk;
  const path = join(commonDir, 'config');
  const target = throughLink(files, path);
  const lock = await GitLock.take(disk, target, 'config', folder, token, wait);
  try {
    // Bytes that are not UTF-8 stay unchanged.
    const before = files.read(target, maxConfigSize)?.toString('latin1') ?? '';
    const after = replaceSection(before, inBytes(section));
    if (after === before) return;
    await disk.settle([folder]);
    await lock.fill([Buffer.from(after, 'latin1')], undefined, files.lstat(target)?.mode);
    lock.commit(target);
    await disk.settle([dirname(target)]);
  } finally {
    lock.release();
  }
}
