import { dirname, join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid, Signature } from '../objects/object.ts';
import { folderOf } from '../refs/ref-store.ts';
import { appendReflogs, reflogLines, reflogsOf } from '../refs/reflog.ts';
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
  { disk, folder, refs, tree, commonDir, config }: MutationSite,
  ref: string,
  { to, log, isNew, from: expected }: RefMove,
  committer: Signature,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  if (refs.resolve(ref) === to) return;
  const path = join(folderOf(tree, ref), ref);
  const lock = await GitLock.take(disk, path, 'ref', folder, token, wait);
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
    const lines = reflogLines([{ oid: to, before: from, log }], committer);
    const logs = reflogsOf(disk, tree, config, [ref]);
    await lock.fill([Buffer.from(`${to}\n`, 'latin1')]);
    const changed = await appendReflogs(disk, commonDir, logs, lines);
    lock.commit(path);
    await disk.settle([...changed, ...lock.changed, dirname(path)]);
  } finally {
    lock.release();
  }
}
