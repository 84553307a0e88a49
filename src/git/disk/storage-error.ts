import { MemoryError } from '../../core/values/error.ts';
import { errno } from './file-layer.ts';
import { isRefusal } from './file-system.ts';

const reasons: { readonly [code: string]: string } = {
  EACCES: 'permission denied',
  EPERM: 'the operation is not permitted',
  ENOSYS: 'the file system does not have the operation',
  EOPNOTSUPP: 'the file system does not support the operation',
  ENOTSUP: 'the file system does not support the operation',
  EINVAL: 'the file system refuses the operation',
  EXDEV: 'the file would move to another file system',
  EBUSY: 'another program has the file open',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reported an input/output error',
  EMFILE: 'this process has too many open files',
  ENFILE: 'the system has too many open files',
  ENOTDIR: 'a file is in the way of a folder',
  EISDIR: 'a folder is in the way of a file',
  EFTYPE: 'it is not a regular file',
  EFBIG: 'the file is too large',
  ENAMETOOLONG: 'the name is too long for this file system',
  ELOOP: 'too many symbolic links',
};

const whatIsLacking =
  'Check the permissions of the file; "memory-bank doctor" reports what its file system lacks.';

/** Describes a system error in words; returns any other error unchanged. */
export function storageError(error: unknown, doing: string): unknown {
  const code = errno(error);
  if (code === undefined) return error;
  // Of a rename or link, the target: the other one is a temporary file.
  const { path: from, dest: path = from } = error as NodeJS.ErrnoException & { dest?: string };
  const where = path === undefined ? '' : ` (${path})`;
  const reason = reasons[code] ?? (error as Error).message;
  const check = isRefusal(error) ? ` ${whatIsLacking}` : '';
  return new MemoryError('storage', `Cannot ${doing}: ${reason}${where}.`, {
    hint: `Nothing was changed.${check}`,
    data: { errno: code, ...(path === undefined ? {} : { path }) },
    cause: error,
  });
}

/** Runs work whose system errors are described in words. */
export async function withStorageErrors<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error, doing);
  }
}

/** The error for a repository that has disappeared; a new one is not created instead. */
export function missingRepository(dotGit: string): MemoryError {
  return new MemoryError('storage', `${dotGit} is missing: the memory is in that repository.`, {
    hint: 'Move it back, or restart the server to start with what is there now. Nothing was changed.',
    data: { path: dotGit },
  });
}
