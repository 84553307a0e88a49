import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IndexFile } from '../index/index-file.ts';
import { cancelled, IndexMark, type OwnCommit } from '../index/index-mark.ts';
import type { KnownIndex } from '../index/known-index.ts';
import type { Oid } from '../objects/object.ts';
import { treeOf } from '../objects/odb.ts';
import type { Head } from '../refs/refs.ts';
import type { MutationSite } from './mutation.ts';

/** Limit of all waits of one mutation, as a multiple of `calm`. */
const longestWait = 5;
const firstPause = 2;
const longestPause = 10;
/** Time after a commit of a loop in which the next one is not expected, in milliseconds. */
const loopPause = 2 * longestPause;

/** The parts of a repository that show a commit under way. */
type WatchedSite = Pick<MutationSite, 'disk' | 'tree' | 'odb' | 'refs' | 'folder'>;

/**
 * Detects a `git commit` of another program that is under way.
 *
 * A plain `git commit` with an editor or a hook holds no lock, and fails if HEAD moves meanwhile. Its
 * evidence is in two files. It writes `COMMIT_EDITMSG` before it moves HEAD. Before that, it or the
 * `git add` in front of it writes an index whose lines are neither ours nor those of HEAD. A `git
 * status` that refreshes the index stages nothing, so it is not evidence.
 *
 * A program that commits in a loop pauses after each commit. One change uses the pause; the next change
 * waits for the next commit, or until the program has stopped.
 */
export class CommitWatch {
  readonly #site: WatchedSite;
  readonly #mark: IndexMark;
  readonly #calm: number;
  /** The content of the index at the last poll, and since when it is unchanged, in milliseconds. */
  #seen: { readonly content: string; readonly since: number } | undefined;

  /** At the last poll: when HEAD had last moved, and our last commit. */
  #moved = 0;
  #own: OwnCommit | undefined;

  /** @param calm how long a staged change counts as evidence, in milliseconds; 0 turns waiting off. */
  constructor(site: WatchedSite, calm: number) {
    this.#site = site;
    this.#mark = new IndexMark(site.disk, site.folder);
    this.#calm = calm;
  }

  /**
   * Shares a commit of ours with all servers of this repository.
   *
   * @param parent of the first new commit.
   * @param index the current one.
   */
  setOwn(oid: Oid, parent: Oid | undefined, { file }: KnownIndex): void {
    if (this.#calm === 0) return;
    // Values of the last poll: after the commit nothing may fail, so nothing is read.
    const last = this.#own;
    const { foreign, quick } =
      last && last.oid === parent
        ? last
        : { foreign: this.#moved, quick: this.#moved - (last?.foreign ?? 0) < this.#calm };
    this.#own = { oid, foreign, quick, content: file.content };
    this.#mark.set(this.#own);
  }

  /**
   * Begins the waits of one mutation.
   *
   * @param look reads the current index.
   */
  begin(look: () => KnownIndex, signal: AbortSignal | undefined): CommitWaits {
    const { refs } = this.#site;
    const remaining = (from?: Oid) => this.#remaining(look(), from);
    return new CommitWaits(remaining, () => refs.head().oid, this.#calm * longestWait, signal);
  }

  /**
   * How long the evidence of a commit still counts, in milliseconds; 0 or less for none.
   *
   * @param from HEAD when the wait began.
   */
  #remaining({ file }: KnownIndex, from: Oid | undefined): number {
    const { refs, tree } = this.#site;
    const head = refs.head();
    const moved = this.#lastMove(head);
    this.#moved = moved;
    const own = this.#mark.get();
    this.#own = own;
    const written = this.#stat(join(tree.gitDir, 'COMMIT_EDITMSG'))?.mtimeMs ?? 0;
    const staged = this.#stagedSince(file, head, own);
    return Math.max(
      own?.quick ? this.#remainingOfLoop(own, head, moved, from) : 0,
      written > moved ? remaining(written, this.#calm * longestWait) : 0,
      staged > moved ? remaining(staged, this.#calm) : 0,
    );
  }

  /** How long to wait for the next commit of a loop; 0 right after a commit. */
  #remainingOfLoop(own: OwnCommit, { oid }: Head, moved: number, from: Oid | undefined): number {
    if (oid === own.oid) return remaining(own.foreign, this.#calm);
    if (oid !== from || remaining(moved, loopPause) > 0) return 0;
    return remaining(moved, this.#calm);
  }

  /** When HEAD last moved. A rename into place changes only the ctime. */
  #lastMove({ ref }: Head): number {
    const { refs, tree } = this.#site;
    const paths = [join(tree.gitDir, 'HEAD'), join(tree.gitDir, 'logs/HEAD')];
    if (ref !== undefined) paths.push(join(refs.folderOf(ref), ref));
    return Math.max(...paths.map((path) => this.#stat(path)?.ctimeMs ?? 0));
  }

  /** When another program staged a change that is not committed yet; 0 if there is none. */
  #stagedSince(index: IndexFile, head: Head, own: OwnCommit | undefined): number {
    const { odb, tree } = this.#site;
    const { content } = index;
    if (this.#seen?.content !== content) {
      const since = this.#stat(join(tree.gitDir, 'index'))?.mtimeMs ?? 0;
      this.#seen = { content, since };
    }
    const { since } = this.#seen;
    if (remaining(since, this.#calm) <= 0 || content === own?.content) return 0;
    const committed = head.oid && treeOf(odb, head.oid);
    return index.tree !== undefined && index.tree === committed ? 0 : since;
  }

  #stat(path: string) {
    return this.#site.disk.files.lstat(path);
  }
}

/** Waits for commits of other programs, with one limit for all waits of a mutation. */
export class CommitWaits {
  readonly #remaining: (from?: Oid) => number;
  readonly #tip: () => Oid | undefined;
  readonly #signal: AbortSignal | undefined;
  /** Remaining time for waits, in milliseconds. */
  #left: number;
  #pause = firstPause;

  constructor(
    remaining: (from?: Oid) => number,
    tip: () => Oid | undefined,
    limit: number,
    signal: AbortSignal | undefined,
  ) {
    this.#remaining = remaining;
    this.#tip = tip;
    this.#left = limit;
    this.#signal = signal;
  }

  /** Whether a commit is under way and there is time left to wait for it. */
  get due(): boolean {
    return this.#left > 0 && this.#remaining() > 0;
  }

  /**
   * Waits until no commit is under way or the limit is reached.
   *
   * @throws MemoryError `cancelled`.
   */
  async wait(): Promise<void> {
    if (this.#left <= 0) return;
    const from = this.#tip();
    while (this.#left > 0 && this.#remaining(from) > 0) {
      const begin = performance.now();
      const time = Math.min(this.#pause, this.#left);
      await sleep(time, undefined, this.#signal ? { signal: this.#signal } : {}).catch(() => {
        throw cancelled();
      });
      this.#left -= Math.max(performance.now() - begin, time);
      this.#pause = Math.min(this.#pause * 2, longestPause);
    }
  }
}

/** The rest of a period that began then; negative when it is over, even if the clock was set back. */
function remaining(since: number, time: number): number {
  return time - Math.abs(Date.now() - since);
}
