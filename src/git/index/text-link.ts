import { relative, sep } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import { isBlob } from '../objects/object.ts';
import { findWorkTree } from '../repository/discover.ts';
import { loadIndex } from './known-index.ts';

/** The mode of a symbolic link in the index. */
const linkMode = 0o120000;
/** Limit of the text of a link, in bytes: that of a path on Linux. */
const maxLink = 4096;

/**
 * Reads the target of a symbolic link that git has checked out as a small text file, as it does on Windows
 * (git-config, core.symlinks).
 *
 * A file with any other text than the link in the index is a file that somebody has put in its place.
 *
 * @param path absolute, links resolved.
 * @returns undefined for anything else.
 */
export function textLinkTarget(files: Files, path: string): string | undefined {
  const stat = files.lstat(path);
  if (stat?.kind !== 'file' || stat.size === 0 || stat.size > maxLink) return undefined;
  try {
    const tree = findWorkTree(files, path);
    if (!tree) return undefined;
    const index = loadIndex(files, tree);
    const entry = index.find(relative(tree.top, path).split(sep).join('/'));
    if (entry?.mode !== linkMode) return undefined;
    const bytes = files.read(path);
    if (!bytes || !isBlob(bytes, entry.oid)) return undefined;
    return bytes.toString('utf8');
  } catch (error) {
    // The code that opens the repository reports what is wrong with it.
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}
