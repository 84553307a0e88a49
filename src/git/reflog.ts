import { dirname, join } from 'node:path';
import type { GitConfig } from './config.ts';
import type { Disk } from './disk.ts';
import { formatSignature, type Signature } from './object.ts';
import type { PlannedCommit } from './plan.ts';
import type { Refs } from './refs.ts';

const none = '0'.repeat(40);

/** The reflogs that a change of HEAD belongs in, with their present length. */
export function reflogsOf(
  disk: Disk,
  config: GitConfig,
  refs: Refs,
  ref: string | undefined,
): { readonly path: string; readonly size: number | undefined }[] {
  const names = ref === undefined ? ['HEAD'] : ['HEAD', ref];
  const setting = config.get('core.logallrefupdates')?.toLowerCase();
  const create = setting === 'always' || (config.bool('core.logallrefupdates') ?? true);
  return names
    .map((name) => join(refs.folderOf(name), 'logs', name))
    .map((path) => ({ path, size: disk.files.lstat(path)?.size }))
    .filter(({ size }) => create || size !== undefined);
}

/** Appends one line for each commit to each reflog; returns the folders whose entries changed. */
export async function appendReflogs(
  disk: Disk,
  logs: readonly { readonly path: string; readonly size: number | undefined }[],
  commits: readonly PlannedCommit[],
  committer: Signature,
): Promise<string[]> {
  const who = formatSignature(committer);
  const lines = commits.map(({ oid, parent, subject }) => {
    const action = parent === undefined ? 'commit (initial)' : 'commit';
    return `${parent ?? none} ${oid} ${who}\t${action}: ${subject}\n`;
  });
  const changed: string[] = [];
  for (const { path, size } of logs) {
    if (size === undefined) changed.push(...disk.makeDirectories(dirname(path)), dirname(path));
    const fd = disk.files.open(path, 'a');
    try {
      disk.files.write(fd, [Buffer.from(lines.join(''), 'utf8')]);
      if (disk.durability === 'full') await disk.files.fsync(fd, 'data');
    } finally {
      disk.files.close(fd);
    }
  }
  return changed;
}

/** Takes back what was appended for a commit that did not come to be. */
export function trimReflogs(
  disk: Disk,
  logs: readonly { readonly path: string; readonly size: number | undefined }[],
  commit: string,
): void {
  for (const { path, size } of logs) {
    const bytes = disk.files.read(path);
    if (!bytes || bytes.length <= (size ?? 0)) continue;
    // Only our own lines, or the torn beginning of them, may go: another program may have appended since.
    const added = bytes.subarray(size ?? 0).toString('utf8');
    const last = added.trimEnd().split('\n').pop() ?? '';
    const ours = last.slice(41, 81) === commit.slice(0, last.slice(41, 81).length);
    if (ours) disk.files.truncate(path, size ?? 0);
  }
}
