import { join, relative } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { IndexMark, OwnCommit } from '../index/index-mark.ts';
import { indexKey, indexOf, indexPath } from '../index/known-index.ts';
import type { ProcessToken } from '../locks/token.ts';
import { isBlob, type Oid, parseCommit } from '../objects/object.ts';
import { treeOf } from '../objects/odb.ts';
import { differences } from '../objects/tree-diff.ts';
import { TreeFolder } from '../objects/tree-folder.ts';
import type { Refs } from '../refs/refs.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { Journal } from './journal.ts';
import { fixIndex, type RepositorySite } from './recovery.ts';
import { underWayIn } from './state.ts';

interface CheckedSite extends RepositorySite {
  readonly tree: WorkTree;
  readonly refs: Refs;
}

/** An index that is written this long after a change, in milliseconds, is a decision of the user. */
const suspicious = 2000;
/** Commits that are this much older than the last one, in seconds, are not compared with the index. */
const longAgo = 5;
const maxCommits = 64;
/** Delays between the checks after a change, in milliseconds. */
const delays = [15, 45, 190, 750, 1100];

/** The versions of a file in the last commits of servers. */
interface Versions {
  readonly last: Oid | undefined;
  readonly mode: number;
  readonly earlier: Set<Oid | undefined>;
}

/**
 * Repairs the index after another program has written an older one over changes.
 *
 * `git commit` reads the index before it locks it. If a change falls in between, git writes the index
 * as it was before the change. Its own commit fails, because HEAD has moved, but the next one would
 * remove our record from the tree.
 *
 * The changes are those of all servers: the mark of the last one leads to its commits. So the next
 * server repairs the index also if the one that made the change has ended.
 */
export class StaleIndex {
  readonly #site: CheckedSite;
  readonly #mark: IndexMark;
  #timer: NodeJS.Timeout | undefined;

  constructor(site: CheckedSite, mark: IndexMark) {
    this.#site = site;
    this.#mark = mark;
  }

  /**
   * Watches the index for a moment after a change.
   *
   * @param repair called when the index is stale; it calls `mend` under the process lock.
   */
  watch(repair: () => Promise<unknown>): void {
    this.close();
    this.#checkAfter(0, repair);
  }

  /**
   * Sets the lines of the last changes again if an older index has replaced them.
   *
   * @returns the last commit of a server.
   */
  async mend(token: ProcessToken): Promise<OwnCommit | undefined> {
    const own = this.#mark.get();
    const files = this.#staleFiles(own);
    const { tree, commonDir } = this.#site;
    if (own && files.length > 0) {
      const journal: Journal = {
        token: token.id,
        top: relative(commonDir, tree.top),
        gitDir: relative(commonDir, tree.gitDir),
        ...{ ref: own.ref, parent: own.base, commit: own.oid, files },
        ...{ logs: [], logLines: '', folders: [] },
      };
      await fixIndex(this.#site, token, journal, tree.top, 'after');
    }
    return own;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #checkAfter(check: number, repair: () => Promise<unknown>): void {
    const delay = delays[check];
    if (delay === undefined) return;
    const timer = setTimeout(async () => {
      try {
        if (this.#staleFiles(this.#mark.get()).length > 0) await repair();
      } catch {
        // The next check or the next change tries again.
      }
      if (timer === this.#timer) this.#checkAfter(check + 1, repair);
    }, delay);
    timer.unref();
    this.#timer = timer;
  }

  /**
   * The files of the last changes that HEAD has and that are in place, but that the index has as before a
   * change. HEAD may have moved on since the last change.
   */
  #staleFiles(own: OwnCommit | undefined): Journal['files'] {
    const { disk, odb, tree, refs } = this.#site;
    if (!own || indexKey(this.#site) === own.key) return [];
    if (underWayIn(disk.files, tree.gitDir, refs)) return [];
    const written = disk.files.lstat(indexPath(disk.files, tree))?.mtimeMs ?? 0;
    if (written > own.time + suspicious) return [];
    const { ref, oid } = refs.head();
    if (ref !== own.ref || oid === undefined) return [];
    const index = indexOf(disk.files, tree, odb.format);
    const committed = new TreeFolder(odb, treeOf(odb, oid));
    return [...this.#versions(own)].flatMap(([path, { last, mode, earlier }]) => {
      const indexed = index.find(path)?.oid;
      if (indexed === last || !earlier.has(indexed)) return [];
      // A commit caches the trees of all folders, except above a line of `git add --intent-to-add`. `git rm --cached`
      // and other commands that change a line do not.
      const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
      if (index.cachedTree(folder) === undefined) return [];
      if (committed.oid(path) !== last || !this.#isInPlace(path, last)) return [];
      return [{ path, before: indexed, after: last, indexed, mode }];
    });
  }

  /** The versions of all files that the last commits of servers changed, by path. */
  #versions({ oid, base }: OwnCommit): ReadonlyMap<string, Versions> {
    const { odb } = this.#site;
    const found = new Map<string, Versions>();
    try {
      let time: number | undefined;
      let tip: Oid | undefined = oid;
      for (let i = 0; tip !== undefined && tip !== base && i < maxCommits; i++) {
        const { tree, parents, committer } = parseCommit(odb.content(tip, 'commit'));
        time ??= committer.seconds;
        if (committer.seconds < time - longAgo) break;
        tip = parents[0];
        for (const { path, before, after } of differences(odb, tip && treeOf(odb, tip), tree)) {
          const mode = Number.parseInt((after ?? before)?.mode ?? '', 8);
          const versions = found.get(path) ?? { last: after?.oid, mode, earlier: new Set() };
          versions.earlier.add(before?.oid);
          found.set(path, versions);
        }
      }
    } catch (error) {
      // The objects of a mark may be gone. That must not make a change fail.
      if (!(error instanceof MemoryError)) throw error;
    }
    return found;
  }

  /** Whether a file is as the change left it: otherwise the user has taken it back. */
  #isInPlace(path: string, after: Oid | undefined): boolean {
    const { disk, tree } = this.#site;
    const full = join(tree.top, path);
    const isFile = disk.files.lstat(full)?.kind === 'file';
    const found = isFile ? disk.files.read(full) : undefined;
    return found && after !== undefined ? isBlob(found, after) : found === after;
  }
}
