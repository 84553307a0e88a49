import { join } from 'node:path';
import { indexKey, indexPath, type KnownIndex } from '../index/known-index.ts';
import type { ProcessToken } from '../locks/token.ts';
import { isBlob } from '../objects/object.ts';
import { treeOf } from '../objects/odb.ts';
import { TreeFolder } from '../objects/tree-folder.ts';
import type { Refs } from '../refs/refs.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { Journal } from './journal.ts';
import { fixIndex, indexChanges, type RepositorySite } from './recovery.ts';
import { underWayIn } from './state.ts';

interface CheckedSite extends RepositorySite {
  readonly tree: WorkTree;
  readonly refs: Refs;
}

/** An index that is written this long after a change, in milliseconds, is a decision of the user. */
const suspicious = 2000;
/** Delays between the checks after a change, in milliseconds. */
const delays = [15, 45, 190, 750, 1100];

/**
 * Repairs the index after another program has written an older one over our change.
 *
 * `git commit` reads the index before it locks it. If a change of ours falls in between, git writes the
 * index as it was before the change. Its own commit fails, because HEAD has moved, but the next one
 * would remove our record from the tree.
 */
export class StaleIndex {
  readonly #site: CheckedSite;
  #last:
    | { readonly journal: Journal; readonly key: string | undefined; readonly time: number }
    | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(site: CheckedSite) {
    this.#site = site;
  }

  /**
   * Watches the index for a moment after a change.
   *
   * @param index written by the change; undefined if it is not known.
   * @param repair called when the index is stale; it calls `mend` under the process lock.
   */
  watch(journal: Journal, index: KnownIndex | undefined, repair: () => Promise<void>): void {
    this.close();
    if (!index || journal.files.length === 0) return;
    this.#last = { journal, key: index.key, time: Date.now() };
    this.#checkAfter(0, repair);
  }

  /** Sets the lines of our last change again if an older index has replaced them. */
  async mend(token: ProcessToken): Promise<void> {
    const stale = this.#stale();
    if (stale) await fixIndex(this.#site, token, stale, this.#site.tree.top, 'after');
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#last = undefined;
  }

  #checkAfter(check: number, repair: () => Promise<void>): void {
    const delay = delays[check];
    if (delay === undefined) {
      this.close();
      return;
    }
    const last = this.#last;
    this.#timer = setTimeout(async () => {
      try {
        if (this.#stale()) await repair();
      } catch {
        // The next check or the next change tries again.
      }
      if (last === this.#last) this.#checkAfter(check + 1, repair);
    }, delay);
    this.#timer.unref();
  }

  /**
   * The journal of our last change with the files that HEAD has and that are in place, if the index is as
   * before the change. HEAD may have moved on: another server plans its next change from a stale index too.
   */
  #stale(): Journal | undefined {
    const { disk, odb, tree, refs } = this.#site;
    const last = this.#last;
    if (!last || indexKey(this.#site) === last.key) return undefined;
    if (underWayIn(disk.files, tree.gitDir, refs)) return undefined;
    const written = disk.files.lstat(indexPath(disk.files, tree))?.mtimeMs ?? 0;
    if (written > last.time + suspicious) return undefined;
    const { ref, oid } = refs.head();
    if (ref !== last.journal.ref || oid === undefined) return undefined;
    const committed = new TreeFolder(odb, treeOf(odb, oid));
    const files = last.journal.files.filter(
      (file) => committed.oid(file.path) === file.after && this.#isInPlace(file),
    );
    const journal = { ...last.journal, files };
    return indexChanges(this.#site, tree.gitDir, journal, tree.top, 'after') && journal;
  }

  /** Whether a file is as the change left it: otherwise the user has taken it back. */
  #isInPlace({ path, after }: Journal['files'][number]): boolean {
    const { disk, tree } = this.#site;
    const full = join(tree.top, path);
    const isFile = disk.files.lstat(full)?.kind === 'file';
    const found = isFile ? disk.files.read(full) : undefined;
    return found && after !== undefined ? isBlob(found, after) : found === after;
  }
}
