import { dirname, join, relative, resolve } from 'node:path';
import { type Disk, together } from '../disk/disk.ts';
import type { Files } from '../disk/file-layer.ts';
import { formatSignature, type Oid, type Signature } from '../objects/object.ts';
import { formatOf, noObject } from '../objects/object-format.ts';
import type { GitConfig } from '../repository/config.ts';
import { folderOf, type RefPlaces } from './ref-places.ts';

export interface PlannedCommit {
  readonly oid: Oid;
  /** The commit of the branch before it. */
  readonly before: Oid | undefined;
  /** The message in the reflogs. */
  readonly log: string;
}

/** A reflog and its length before the mutation; undefined if it did not exist. */
export interface Reflog {
  readonly path: string;
  readonly size: number | undefined;
}

/** Whether changes create the reflogs of branches and of HEAD. */
export function createsReflogs(config: GitConfig): boolean {
  const setting = config.get('core.logallrefupdates')?.toLowerCase();
  return setting === 'always' || (config.bool('core.logallrefupdates') ?? true);
}

/** The reflogs of refs, relative to the common git directory. */
export function reflogsOf(
  files: Files,
  places: RefPlaces,
  config: GitConfig,
  names: readonly string[],
): Reflog[] {
  const create = createsReflogs(config);
  return names
    .map((name) => join(folderOf(places, name), 'logs', name))
    .map((path) => ({ path: relative(places.commonDir, path), size: files.lstat(path)?.size }))
    .filter(({ size }) => create || size !== undefined);
}

/** The reflog lines for a chain of commits. */
export function reflogLines(commits: readonly PlannedCommit[], committer: Signature): string {
  const signature = formatSignature(committer);
  return commits
    .map(
      ({ oid, before, log }) =>
        `${before ?? noObject(formatOf(oid))} ${oid} ${signature}\t${log}\n`,
    )
    .join('');
}

/** The files and folders that a change of reflogs leaves to flush. */
export interface LoggedFiles {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** Flushes changed reflogs, and folders with them. */
export async function flushReflogs(
  disk: Disk,
  { files, folders }: LoggedFiles,
  others: readonly string[] = [],
): Promise<void> {
  await together([disk.flush(files), disk.settle([...folders, ...others])]);
}

/** Appends lines to each reflog. */
export function appendReflogs(
  disk: Disk,
  commonDir: string,
  logs: readonly Reflog[],
  lines: string,
): LoggedFiles {
  return append(disk, commonDir, logs, () => Buffer.from(lines, 'utf8'));
}

/** Appends what a power cut has lost of the lines of a commit that was made. */
export function completeReflogs(
  disk: Disk,
  commonDir: string,
  logs: readonly Reflog[],
  lines: string,
): LoggedFiles {
  const ours = Buffer.from(lines, 'utf8');
  return append(disk, commonDir, logs, (path, size) => {
    const added = disk.files.read(path)?.subarray(size) ?? Buffer.alloc(0);
    return ours.subarray(0, added.length).equals(added) ? ours.subarray(added.length) : undefined;
  });
}

/** @param lack returns what is appended to a file with a length before; nothing for a complete one. */
function append(
  disk: Disk,
  commonDir: string,
  logs: readonly Reflog[],
  lack: (path: string, size: number) => Buffer | undefined,
): LoggedFiles {
  const files: string[] = [];
  const folders: string[] = [];
  for (const { path: relativePath, size = 0 } of logs) {
    const path = resolve(commonDir, relativePath);
    const bytes = lack(path, size);
    if (!bytes?.length) continue;
    const isNew = disk.files.lstat(path) === undefined;
    if (isNew) folders.push(...disk.makeDirectories(dirname(path)), dirname(path));
    const fd = isNew ? disk.openNew(path, 'a') : disk.files.open(path, 'a');
    try {
      disk.files.write(fd, [bytes]);
    } finally {
      disk.files.close(fd);
    }
    files.push(path);
  }
  return { files, folders };
}

/** Removes appended lines, also partly written ones, of a commit that was not made. */
export function trimReflogs(
  disk: Disk,
  commonDir: string,
  logs: readonly Reflog[],
  lines: string,
): void {
  const ours = Buffer.from(lines, 'utf8');
  for (const { path: relativePath, size = -1 } of logs) {
    const path = resolve(commonDir, relativePath);
    const bytes = disk.files.read(path);
    if (!bytes || bytes.length <= size) continue;
    // Only our own lines, or a torn prefix of them, may be removed.
    const added = bytes.subarray(Math.max(size, 0));
    if (!ours.subarray(0, added.length).equals(added)) continue;
    if (size < 0) disk.discard(path);
    else disk.shorten(path, bytes.subarray(0, size));
  }
}
