import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { errno, type Files } from './file-layer.ts';

/** The codes with which a file system refuses an operation that it does not have. */
const refusals: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'ENOSYS',
  'EOPNOTSUPP',
  'ENOTSUP',
  'EINVAL',
]);

/** Android refuses hard links with EACCES, a union of file systems with EXDEV, FAT with EMLINK. */
const linkRefusals: ReadonlySet<string | undefined> = new Set(['EACCES', 'EXDEV', 'EMLINK']);

/** The time that a probe gets: 2001-09-09, in seconds. */
const probedTime = 1_000_000_000;
/** FAT rounds times to two seconds. */
const coarsest = 2;

/** The features of a file system that a change can do without. */
export interface Features {
  /** Hard links, which show the inode of their file. */
  readonly links: boolean;
  /** Permissions of a file. */
  readonly modes: boolean;
  /** The time of a file, which can be set to an earlier one. */
  readonly times: boolean;
}

/** Whether an error says that the file system does not have the operation. */
export function isRefusal(error: unknown): boolean {
  return refusals.has(errno(error));
}

/**
 * Tries the features of the file system of a folder with a file.
 *
 * @param id the end of the names of the probe's files, by which another process removes them if this one
 *   dies.
 * @throws MemoryError `storage` where files cannot be renamed or removed: a change would leave locks behind.
 */
export function probeFeatures(files: Files, folder: string, id: string): Features {
  const paths = [join(folder, `probe-${id}`), join(folder, `probe1-${id}`)] as const;
  try {
    for (const path of paths) if (files.lstat(path)) files.unlink(path);
    return probeWith(files, ...paths);
  } catch (error) {
    for (const path of paths) tryUnlink(files, path);
    throw error;
  }
}

function probeWith(files: Files, probe: string, second: string): Features {
  const fd = files.open(probe, 'wx', 0o666);
  let found: Omit<Features, 'links'>;
  try {
    files.write(fd, [Buffer.from('probe\n')]);
    found = { modes: keepsMode(files, fd), times: keepsTime(files, fd) };
  } finally {
    files.close(fd);
  }
  const links = keepsLink(files, probe, second);
  needed('renamed', probe, () => files.rename(links ? second : probe, links ? probe : second));
  for (const path of [probe, second]) {
    needed('removed', path, () => files.lstat(path) && files.unlink(path));
  }
  return { ...found, links };
}

function tryUnlink(files: Files, path: string): void {
  try {
    files.unlink(path);
  } catch (error) {
    if (errno(error) === undefined) throw error;
  }
}

/** Whether a file gets the permissions that are set. */
function keepsMode(files: Files, fd: number): boolean {
  const set = 0o600;
  return has(() => files.chmod(fd, set)) && (files.fstat(fd).mode & 0o777) === set;
}

/** Whether a file gets the time that is set, or an earlier one. */
function keepsTime(files: Files, fd: number): boolean {
  if (!has(() => files.setTime(fd, probedTime))) return false;
  const seconds = files.fstat(fd).mtimeMs / 1000;
  return seconds <= probedTime && seconds >= probedTime - coarsest;
}

/** Whether a link can be made, and its inode is that of its file. */
function keepsLink(files: Files, path: string, link: string): boolean {
  if (!has(() => files.link(path, link), linkRefusals)) return false;
  const [one, other] = [files.lstat(path), files.lstat(link)];
  if (!one || !other || one.ino === 0) return false;
  return one.ino === other.ino && one.links === 2;
}

/** Whether an operation succeeds; false if the file system refuses it. */
function has(operation: () => void, more?: ReadonlySet<string | undefined>): boolean {
  try {
    operation();
    return true;
  } catch (error) {
    if (isRefusal(error) || more?.has(errno(error))) return false;
    throw error;
  }
}

function needed(done: string, path: string, operation: () => unknown): void {
  try {
    operation();
  } catch (cause) {
    const code = errno(cause);
    if (code === undefined) throw cause;
    throw new MemoryError('storage', `${path} cannot be ${done} (${code}).`, {
      hint: 'The file system does not allow what git and the memory need. Move the repository to another disk, or mount it with other options. Nothing was changed.',
      data: { errno: code, path },
      cause,
    });
  }
}
