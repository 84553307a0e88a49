import { dirname, join } from 'node:path';
import { type Disk, removeIfEmpty } from '../disk/disk.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid } from '../objects/object.ts';
import type { Refs } from '../refs/refs.ts';
import type { MutationSite } from './mutation.ts';

/** The folder of the refs that belong to this program. They have no reflog and keep no commits. */
export const ownRefs = 'refs/memory-bank/';

/** A change of one of our own refs. */
export interface RefSwap {
  /** Full name, below `ownRefs`. */
  readonly ref: string;
  /** Its expected value; undefined for no such ref. */
  readonly from: Oid | undefined;
  /** Its new value; undefined removes it. */
  readonly to: Oid | undefined;
}

/**
 * Changes one of our own refs if it still has the expected value.
 *
 * @returns whether it had.
 */
export async function swapOwnRef(
  { disk, folder, refs, commonDir }: Omit<MutationSite, 'config'>,
  { ref, from, to }: RefSwap,
  token: ProcessToken,
  wait: LockWait,
): Promise<boolean> {
  const path = join(refs.folderOf(ref), ref);
  const lock = await GitLock.take(disk, path, 'ref', folder, token, wait);
  const changed = [dirname(path)];
  try {
    if (refs.resolve(ref) !== from) return false;
    if (to !== undefined) {
      await lock.fill([Buffer.from(`${to}\n`, 'latin1')]);
      lock.commit(path);
    } else {
      // The packed value first: without the file it would come back.
      await removePacked({ disk, commonDir, folder, refs }, ref, token, wait);
      disk.discard(path);
    }
    await disk.settle([...lock.changed, ...changed]);
    return true;
  } finally {
    lock.release();
    removeIfEmpty(disk, dirname(path));
  }
}

/** Removes the line of a ref from `packed-refs` (git-pack-refs). */
async function removePacked(
  { disk, commonDir, folder, refs }: { disk: Disk; commonDir: string; folder: string; refs: Refs },
  ref: string,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  if (!refs.isPacked(ref)) return;
  const path = join(commonDir, 'packed-refs');
  const lock = await GitLock.take(disk, path, 'packed', folder, token, wait);
  try {
    const text = disk.files.read(path)?.toString('latin1') ?? '';
    const name = Buffer.from(ref, 'utf8').toString('latin1');
    const lines = text.split('\n').filter((line) => line.slice(41) !== name);
    await lock.fill([Buffer.from(lines.join('\n'), 'latin1')]);
    lock.commit(path);
    await disk.settle([commonDir]);
  } finally {
    lock.release();
  }
}
