import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';

/**
 * Returns the folder with the files of the pages, which is next to the bundle of the program.
 *
 * @throws MemoryError `not_found` for a program that is not bundled.
 */
export function pageFolder(): string {
  const folder = ['page', '../page']
    .map((name) => join(import.meta.dirname, name))
    .find((path) => existsSync(join(path, 'page.js')));
  if (folder !== undefined) return folder;
  throw new MemoryError('not_found', 'The files of the pages are missing.', {
    hint: 'Install the program again; in a clone: npm ci.',
  });
}
