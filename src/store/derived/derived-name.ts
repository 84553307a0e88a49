import { join } from 'node:path';
import { checksum } from '../../core/values/checksum.ts';
import type { Disk } from '../../git/disk/disk.ts';

/** The file of another work tree is removed when it was not written for this long, in milliseconds. */
const abandoned = 30 * 24 * 60 * 60 * 1000;

/** The beginnings of the names of files that are derived from a memory. */
export type DerivedKind = 'records' | 'brief' | 'recent' | 'words' | 'vectors';
const names = /^(?:records|brief|recent|words|vectors)-([0-9a-f]{12,13})\.index$/;

/**
 * Returns the name of a derived file; each work tree has its own.
 *
 * @param path of the memory folder, with all links resolved.
 */
export function derivedName(kind: DerivedKind, path: string): string {
  return `${kind}-${treeOf(path)}.index`;
}

function treeOf(path: string): string {
  return checksum(path).slice(0, 12);
}

/**
 * Identifies everything that the content of a derived file depends on except for the memory.
 *
 * @param content the version of its format, and the settings that it depends on.
 */
export function derivedMark(content: unknown): string {
  const build = /[\\/]builds[\\/]([^\\/]+)/.exec(import.meta.dirname)?.[1] ?? '';
  return JSON.stringify([build, process.versions.unicode, content]);
}

/** Removes the derived files of work trees that are no longer used. */
export function cleanDerived(disk: Disk, folder: string, path: string): void {
  const { files } = disk;
  const own = treeOf(path);
  for (const { name } of files.list(folder) ?? []) {
    const [, tree] = names.exec(name) ?? [];
    if (tree === undefined || tree === own) continue;
    const other = join(folder, name);
    const time = files.lstat(other)?.mtimeMs ?? Date.now();
    if (time < Date.now() - abandoned) disk.tryDiscard(other);
  }
}
