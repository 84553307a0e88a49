import { statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { storageError } from '../../git/disk/storage-error.ts';

/**
 * Writes a file of an export, and the folders around it.
 *
 * @param path absolute.
 * @throws MemoryError `storage` with the reason.
 */
export async function writeExport(path: string, content: string): Promise<void> {
  try {
    await makeFolder(dirname(path));
    await writeFile(path, content);
  } catch (error) {
    const cause = storageError(error, `write ${path}`);
    if (!(cause instanceof MemoryError)) throw cause;
    // Other files of the export may have been written.
    const hint = 'Give a folder in which files can be written.';
    throw new MemoryError(cause.code, cause.message, { hint, data: cause.data, cause: error });
  }
}

/** Makes a folder; the recursive mkdir of Node.js never ends in a place such as /proc. */
async function makeFolder(path: string): Promise<void> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return;
  // On Windows, a folder in a file fails as if its parent were missing.
  if (stat) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR', path });
  await makeFolder(dirname(path));
  await mkdir(path);
}
