import { parse } from 'node:path';
import { MemoryError } from '../core/error.ts';
import { Enclosure, readRegular } from '../git/repository/enclosure.ts';

/** A larger file of a client, or for agents, is not read, in bytes. */
const maxTextBytes = 16 * 1024 * 1024;

/**
 * The real path of a file of a project; the file and the last folders need not be there.
 *
 * @param path absolute.
 * @throws MemoryError `damaged` for a link that leads out of the project, into a git directory or
 *   nowhere.
 */
export function projectPath(root: string, path: string): string {
  return Enclosure.ofProject(root).resolve(path);
}

/**
 * The real path of a file that a person names, or that a program keeps in the home directory; wherever
 * links of that person lead.
 *
 * @param path absolute.
 * @throws MemoryError `damaged` for a link that leads nowhere.
 */
export function personalPath(path: string): string {
  return new Enclosure(parse(path).root).resolve(path);
}

/**
 * The real path of a file in a folder that a person names: in the project as `projectPath`, elsewhere
 * below what the folder leads to.
 *
 * @param folder absolute, as `path`.
 * @throws MemoryError `damaged` for a link that leads out of the project or of the folder.
 */
export function pathAround(folder: string, root: string, path: string): string {
  return Enclosure.around(folder, root).resolve(path);
}

/**
 * The bytes of a file of a project; undefined where there is none.
 *
 * @throws MemoryError `damaged` as `projectPath` and for what is not a regular file, `too_large`.
 */
export function readProjectFile(root: string, path: string): Buffer | undefined {
  return Enclosure.ofProject(root).read(path, maxTextBytes);
}

/**
 * The text of a regular file; undefined where there is none.
 *
 * @throws MemoryError `damaged` for one that is not UTF-8 text, or too large to be one.
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
