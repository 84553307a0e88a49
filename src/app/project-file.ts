import { parse } from 'node:path';
import { MemoryError } from '../core/error.ts';
import { Enclosure, readRegular } from '../git/repository/enclosure.ts';

/** Size limit of a client configuration or an instruction file, in bytes. */
const maxTextBytes = 16 * 1024 * 1024;

/**
 * Returns the real path of a project file; the file and its last folders need not exist.
 *
 * @param path absolute.
 * @throws MemoryError `damaged` for a link that leads out of the project, into a git directory or
 *   nowhere.
 */
export function projectPath(root: string, path: string): string {
  return Enclosure.ofProject(root).resolve(path);
}

/**
 * Returns the real path of a file that a person names, or that a program keeps in the home directory,
 * through any link.
 *
 * @param path absolute.
 * @throws MemoryError `damaged` for a link without a target.
 */
export function personalPath(path: string): string {
  return new Enclosure(parse(path).root).resolve(path);
}

/**
 * Returns the real path of a file in a folder that a person names: in the project as `projectPath`,
 * elsewhere below the target of the folder.
 *
 * @param folder absolute, as `path`.
 * @throws MemoryError `damaged` for a link that leads out of the project or of the folder.
 */
export function pathAround(folder: string, root: string, path: string): string {
  return Enclosure.around(folder, root).resolve(path);
}

/**
 * Reads a project file; undefined if it does not exist.
 *
 * @throws MemoryError `damaged` as `projectPath` and if it is not a regular file, `too_large`.
 */
export function readProjectFile(root: string, path: string): Buffer | undefined {
  return Enclosure.ofProject(root).read(path, maxTextBytes);
}

/**
 * Reads the text of a regular file; undefined if it does not exist.
 *
 * @throws MemoryError `damaged` if it is not UTF-8 text or is too large.
 */
export function readText(path: string): string | undefined {
  try {
    const bytes = readRegular(path, maxTextBytes);
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    if (cause instanceof MemoryError && cause.code === 'damaged') throw cause;
    throw new MemoryError('damaged', 'it cannot be read as text', { cause });
  }
}
