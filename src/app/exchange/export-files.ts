import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { storageError } from '../../git/disk/disk.ts';

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
  if (existsSync(path)) return;
  await makeFolder(dirname(path));
  await mkdir(path);
}
