import { dirname, join } from 'node:path';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid, Signature } from '../objects/object.ts';
import { appendReflogs, reflogLines, reflogsOf } from '../refs/reflog.ts';
import type { MutationSite } from './mutation.ts';

/** Moves a ref that is never checked out, such as a remote-tracking branch. */
export async function moveRef(
  { disk, folder, refs, commonDir, config }: MutationSite,
  ref: string,
  to: Oid,
  committer: Signature,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  if (refs.resolve(ref) === to) return;
  const path = join(refs.folderOf(ref), ref);
  const lock = await GitLock.take(disk, path, 'ref', folder, token, wait);
  try {
    const from = refs.resolve(ref);
    const lines = reflogLines([{ oid: to, before: from, log: 'memory-bank sync' }], committer);
    const logs = reflogsOf(disk, commonDir, config, refs, [ref]);
    await lock.fill([Buffer.from(`${to}\n`, 'latin1')]);
    const changed = await appendReflogs(disk, commonDir, logs, lines);
    lock.commit(path);
    await disk.settle([...changed, ...lock.changed, dirname(path)]);
  } finally {
    lock.release();
  }
}
