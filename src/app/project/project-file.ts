import { join, parse } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { errno } from '../../git/disk/file-layer.ts';
import { Folder, isLink } from '../../git/disk/folder.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { textLinkTarget } from '../../git/index/text-link.ts';
import { Enclosure, readRegular } from '../../git/repository/enclosure.ts';
import { LayoutFolder } from '../../store/layout/layout-folder.ts';
import { hasEntryFiles, isStoredApart } from '../../store/layout/log-paths.ts';

/** Size limit of a client configuration or an instruction file, in bytes. */
export const maxTextBytes = 16 * 1024 * 1024;
/** Limit of the links that lead to a file, as on Linux. */
const maxLinks = 40;

/**
 * Returns the real path of a project file; the file and its last folders need not exist.
 *
 * A link that git has checked out as a text file, as on Windows, leads to its target as well.
 *
 * @param path absolute.
 * @throws MemoryError `damaged` for a link that leads out of the project, into a git directory or
 *   nowhere.
 */
export function projectPath(root: string, path: string): string {
  const files = new NodeFiles();
  const enclosure = Enclosure.ofProject(root, files);
  let at = enclosure.resolve(path);
  for (let links = 0; ; links++) {
    const target = textLinkTarget(files, at);
    if (target === undefined) return at;
    if (links === maxLinks) {
      throw new MemoryError('damaged', `${path} is a symbolic link that leads to itself.`, {
        hint: 'Remove the link, or put a file in its place.',
        data: { path },
      });
    }
    at = enclosure.resolveLink(at, target);
  }
}

/**
 * Returns the real path of a file that a person names, or that a program keeps in the home directory,
 * through any link.
 *
 * @param path absolute.
 * @throws MemoryError `damaged` for a link without a target, or a folder that may not be entered.
 */
export function personalPath(path: string): string {
  try {
    return new Enclosure(parse(path).root).resolve(path);
  } catch (cause) {
    if (errno(cause) !== 'EACCES') throw cause;
    throw new MemoryError('damaged', 'it cannot be reached: permission denied', { cause });
  }
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
 * Reads a record of the memory of a project; undefined if it does not exist.
 *
 * @param folder of the memory, absolute.
 * @throws MemoryError `damaged` if it is a link or not a regular file, `too_large`.
 */
export function readMemoryFile(root: string, folder: string, record: string): Buffer | undefined {
  const files = new NodeFiles();
  if (isStoredApart(record)) {
    const settings = files.read(join(folder, 'config.yaml'), maxTextBytes)?.toString('utf8');
    const isOn = hasEntryFiles(settings);
    if (isOn)
      return new LayoutFolder(new Folder(files, folder), () => true).read(record, maxTextBytes);
  }
  const path = join(folder, record);
  const enclosure = Enclosure.ofProject(root, files);
  if (textLinkTarget(files, enclosure.resolve(path)) !== undefined) throw isLink(path, path);
  return enclosure.read(path, maxTextBytes);
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
