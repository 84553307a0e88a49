import { foldName } from '../../core/names/file-name.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { FileChange } from '../../git/commit/commit-plan.ts';
import type { ReadFolder } from '../../git/disk/folder.ts';
import { FoldedPaths } from '../records/folded-paths.ts';
import { join } from '../records/record-path.ts';

/**
 * Refuses a new file of the memory whose name some file systems do not tell apart from another one.
 *
 * Only new files are checked: two such files that are both here already block nothing.
 *
 * @param work the work tree.
 * @throws MemoryError `already_exists` with both paths.
 */
export function checkTwins(work: Pick<ReadFolder, 'list'>, changes: readonly FileChange[]): void {
  const added = changes.filter(({ bytes, seen }) => bytes && !seen).map(({ path }) => path);
  const removed = new Set(changes.filter(({ bytes }) => !bytes).map(({ path }) => path));
  const arriving = new FoldedPaths(added);
  const present = new FoldedTree(work);
  for (const path of added) {
    const twin = [...present.named(path), ...arriving.twinsOf(path)].find(
      (other) => other !== path && !removed.has(other),
    );
    if (twin === undefined) continue;
    throw new MemoryError('already_exists', `${path} cannot be kept next to ${twin}.`, {
      hint: 'They differ only in letter case or Unicode normal form, and some file systems treat them as one file. Rename one of them, here or in the upstream, then sync again. Nothing was changed.',
      data: { path, twin },
    });
  }
}

/** The entries of a work tree by folded name; each folder is listed once. */
class FoldedTree {
  readonly #work: Pick<ReadFolder, 'list'>;
  readonly #folders = new Map<string, ReadonlyMap<string, readonly string[]>>();

  constructor(work: Pick<ReadFolder, 'list'>) {
    this.#work = work;
  }

  /** The existing paths with the same folded name as a path. */
  named(path: string): readonly string[] {
    let found: readonly string[] = [''];
    for (const segment of path.split('/')) {
      const name = foldName(segment);
      found = found.flatMap((folder) => this.#entries(folder).get(name) ?? []);
    }
    return found;
  }

  #entries(folder: string): ReadonlyMap<string, readonly string[]> {
    const known = this.#folders.get(folder);
    if (known) return known;
    const entries = new Map<string, string[]>();
    for (const { name, kind } of this.#work.list(folder) ?? []) {
      // Memory is not read through links.
      if (kind !== 'file' && kind !== 'directory') continue;
      const folded = foldName(name);
      entries.set(folded, [...(entries.get(folded) ?? []), join(folder, name)]);
    }
    this.#folders.set(folder, entries);
    return entries;
  }
}
