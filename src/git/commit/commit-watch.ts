import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IndexFile } from '../index/index-file.ts';
import { cancelled, IndexMark, type OwnCommit } from '../index/index-mark.ts';
import { indexPath, type KnownIndex } from '../index/known-index.ts';
import type { Oid } from '../objects/object.ts';
import { treeOf } from '../objects/odb.ts';
import type { Head } from '../refs/refs.ts';
import type { MutationSite } from './mutation.ts';

/** Limit of all waits of one mutation, as a multiple of `calm`. */
const longestWait = 5;
const firstPause = 2;
const longestPause = 10;
/** How long a begun commit counts as under way, as a multiple of `calm`: an editor can stay open. */
const longestCommit = 150;
/** Time after a commit of a loop in which the next one is not expected, in milliseconds. */
const loopPause = 2 * longestPause;

/** The parts of a repository that show a commit under way. */
type WatchedSite = Pick<MutationSite, 'disk' | 'tree' | 'odb' | 'refs' | 'folder'>;

/**
 * Detects a `git commit` of another program that is under way.
 *
 * A plain `git commit` with an editor or a hook holds no lock, and fails if HEAD moves meanwhile. Its
 * evidence is in two files. `git add` writes an index whose lines are neither ours nor those of HEAD:
 * a commit may follow. `git commit` caches the tree of these lines in the index before its first hook
 * runs, and writes `COMMIT_EDITMSG` before its editor opens: a commit has begun. A `git status` that
 * refreshes the index stages nothing, so it is not evidence.
 *
 * A begun commit counts until HEAD moves, but each is waited for only once: a hook may have refused it,
 * or a person may have closed the editor without a message.
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
  /** The begun commit at the last poll, and the last one that a wait did not see end. */
  #begun: string | undefined;
  #outlasted: string | undefined;

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
    const outlast = () => {
      this.#outlasted = this.#begun;
    };
    const limit = this.#calm * longestWait;
    return new CommitWaits({ remaining, outlast, tip: () => refs.head().oid }, limit, signal);
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
    const staged = this.#stagedSince(file, head, own, moved);
    const begun = Math.max(written, file.tree === undefined ? 0 : staged);
    this.#begun = begun > moved ? `${written} ${file.content}` : undefined;
    return Math.max(
      own?.quick ? this.#remainingOfLoop(own, head, moved, from) : 0,
      begun > moved && this.#begun !== this.#outlasted
        ? remaining(begun, this.#calm * longestCommit)
        : 0,
      staged > 0 ? remaining(staged, this.#calm) : 0,
    );
  }

  /** How long to wait for the next commit of a loop; 0 right after a commit. */
  #remainingOfLoop(own: OwnCommit, { oid }: Head, moved: number, from: Oid | undefined): number {
    if (oid === own.oid) return remaining(own.foreign, this.#calm);
    if (oid !== from || remaining(moved, loopPause) > 0) return 0;
    return remaining(moved, this.#calm);
  }

  /** When HEAD last moved. */
  #lastMove({ ref }: Head): number {
    return this.#site.refs.store.lastChange(ref === undefined ? ['HEAD'] : ['HEAD', ref]);
  }

  /** When another program staged a change that is not committed yet; 0 if there is none. */
  #stagedSince(
    { content, tree: cached }: IndexFile,
    head: Head,
    own: OwnCommit | undefined,
    moved: number,
  ): number {
    const { disk, odb, tree } = this.#site;
    if (this.#seen?.content !== content) {
      const since = this.#stat(indexPath(disk.files, tree))?.mtimeMs ?? 0;
      this.#seen = { content, since };
    }
    const { since } = this.#seen;
    if (since <= moved || content === own?.content) return 0;
    const committed = head.oid && treeOf(odb, head.oid);
    return cached !== undefined && cached === committed ? 0 : since;
  }

  #stat(path: string) {
    return this.#site.disk.files.lstat(path);
  }
}

/** The polls of a `CommitWatch` for the waits of one mutation. */
interface WatchedCommits {
  /** How long the evidence of a commit still counts; see `CommitWatch`. */
  remaining(from?: Oid): number;
  /** Notes that the commit under way did not end within the limit. */
  outlast(): void;
  tip(): Oid | undefined;
}

/** Waits for commits of other programs, with one limit for all waits of a mutation. */
export class CommitWaits {
  readonly #commits: WatchedCommits;
  readonly #signal: AbortSignal | undefined;
  /** Remaining time for waits, in milliseconds. */
  #left: number;
  #pause = firstPause;

  constructor(commits: WatchedCommits, limit: number, signal: AbortSignal | undefined) {
    this.#commits = commits;
    this.#left = limit;
    this.#signal = signal;
  }

  /** Whether a commit is under way and there is time left to wait for it. */
  get due(): boolean {
    return this.#left > 0 && this.#commits.remaining() > 0;
  }

  /**
   * Waits until no commit is under way or the limit is reached.
   *
   * @throws MemoryError `cancelled`.
   */
  async wait(): Promise<void> {
    if (this.#left <= 0) return;
    const from = this.#commits.tip();
    while (this.#left > 0 && this.#commits.remaining(from) > 0) {
      const begin = performance.now();
      const time = Math.min(this.#pause, this.#left);
      await sleep(time, undefined, this.#signal ? { signal: this.#signal } : {}).catch(() => {
        throw cancelled();
      });
      this.#left -= Math.max(performance.now() - begin, time);
      this.#pause = Math.min(this.#pause * 2, longestPause);
    }
    if (this.#left <= 0) this.#commits.outlast();
  }
}

/** The rest of a period that began then; negative when it is over, even if the clock was set back. */
function remaining(since: number, time: number): number {
  return time - Math.abs(Date.now() - since);
}
