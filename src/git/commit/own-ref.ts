import type { LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid } from '../objects/object.ts';
import { refSite } from '../refs/ref-change.ts';
import { holdRef } from '../refs/ref-writer.ts';
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
  const { disk, folder, refs, warn } = site;
  const held = await holdRef(refs, refSite(site, token, wait), ref);
  try {
    if (refs.resolve(ref) !== from) return false;
    // The proof that the lock is ours reaches the medium before the lock does.
    await disk.settle([folder]);
    await disk.settle(await held.stage({ to }));
    try {
      await held.place();
      await held.finish([]);
    } catch (error) {
      // A rename or removal that reported an error may be done: the disk decides.
      if (!isAt(refs, ref, to, held.isPlaced)) throw error;
      warn(`The ref ${ref} was changed; finishing it failed: ${error}`);
    }
    return true;
  } finally {
    held.release();
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
