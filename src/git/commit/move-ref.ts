import { MemoryError } from '../../core/values/error.ts';
import type { LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid, Signature } from '../objects/object.ts';
import { refSite } from '../refs/ref-change.ts';
import { holdRef } from '../refs/ref-writer.ts';
import type { MutationSite } from './mutation.ts';

/** The move of a ref to a commit. */
export interface RefMove {
  readonly to: Oid;
  /** The message in the reflog. */
  readonly log: string;
  /** Whether the ref must not exist yet. */
  readonly isNew?: boolean;
  /** The commit that it must have; any by default. */
  readonly from?: Oid;
}

/**
 * Creates or moves a ref that is not checked out, such as a remote-tracking branch.
 *
 * @throws MemoryError `already_exists` for a new ref that exists, `busy` for one with another commit.
 */
export async function moveRef(
  site: MutationSite,
  ref: string,
  { to, log, isNew, from: expected }: RefMove,
  committer: Signature,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  const { disk, refs } = site;
  if (refs.resolve(ref) === to) return;
  const held = await holdRef(refs, refSite(site, token, wait), ref);
  try {
    const from = refs.resolve(ref);
    if (isNew && from !== undefined) {
      throw new MemoryError('already_exists', `There is a ref ${ref} already.`, { data: { ref } });
    }
    if (expected !== undefined && from !== expected) {
      throw new MemoryError('busy', `The ref ${ref} was moved meanwhile.`, {
        hint: 'Nothing was changed. Try again.',
        data: { ref },
      });
    }
    const commits = [{ oid: to, before: from, log }];
    await disk.settle(await held.stage({ to, log: { commits, committer } }));
    await held.place();
    await held.finish([]);
  } finally {
    held.release();
  }
}
