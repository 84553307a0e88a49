import { dirname, join } from 'node:path';
import { throughLink } from '../disk/file-layer.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid } from '../objects/object.ts';
import { folderOf } from '../refs/ref-store.ts';
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
  site: MutationSite,
  { ref, from, to }: RefSwap,
  token: ProcessToken,
  wait: LockWait,
): Promise<boolean> {
  const { disk, folder, refs, tree, commonDir, warn } = site;
  const path = join(folderOf(tree, ref), ref);
  const lock = await GitLock.take(disk, path, 'ref', folder, token, wait);
  let isChanged = false;
  try {
    if (refs.resolve(ref) !== from) return false;
    const isLoose = disk.files.lstat(path) !== undefined;
    // The proof that the lock is ours reaches the medium before the lock does.
    await disk.settle([folder]);
    if (to !== undefined) await lock.fill([Buffer.from(`${to}\n`, 'latin1')]);
    try {
      if (to !== undefined) lock.commit(path);
      else {
        // The packed value first: without the file it would come back.
        await removePacked(site, ref, token, wait);
        // The disk may no longer say so: the lock keeps others from making the file meanwhile.
        isChanged = !isLoose;
        if (isLoose) disk.discard(path);
      }
      isChanged = true;
      await disk.settle([...lock.changed, dirname(path), commonDir]);
    } catch (error) {
      // A rename or removal that reported an error may be done: the disk decides.
      if (!isAt(refs, ref, to, isChanged)) throw error;
      warn(`The ref ${ref} was changed; finishing it failed: ${error}`);
    }
    return true;
  } finally {
    lock.release();
  }
}

/** Whether a ref has a value; if it cannot be read, what is known decides. */
function isAt(refs: Refs, ref: string, oid: Oid | undefined, known: boolean): boolean {
  try {
    return refs.resolve(ref) === oid;
  } catch {
    return known;
  }
}

/** Removes the line of a ref from `packed-refs` (git-pack-refs). */
async function removePacked(
  { disk, commonDir, folder, refs }: MutationSite,
  ref: string,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  if (!refs.isPacked(ref)) return;
  const path = throughLink(disk.files, join(commonDir, 'packed-refs'));
  const lock = await GitLock.take(disk, path, 'packed', folder, token, wait);
  try {
    await disk.settle([folder]);
    const text = disk.files.read(path)?.toString('latin1') ?? '';
    const name = Buffer.from(ref, 'utf8').toString('latin1');
    const lines = text.split('\n').filter((line) => line.slice(line.indexOf(' ') + 1) !== name);
    await lock.fill([Buffer.from(lines.join('\n'), 'latin1')]);
    lock.commit(path);
  } finally {
    lock.release();
  }
}
