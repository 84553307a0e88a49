import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { IndexFile } from '../index/index-file.ts';
import type { IndexMark, OwnCommit } from '../index/index-mark.ts';
import { indexPath, type KnownIndex } from '../index/known-index.ts';
import type { Oid } from '../objects/object.ts';
import { treeOf } from '../objects/odb.ts';
import { type Head, Refs } from '../refs/refs.ts';
import type { GitConfig } from '../repository/config.ts';
import type { WorkTree } from '../repository/discover.ts';
import { type GitProcess, GitProcesses } from '../repository/git-processes.ts';
import {
  CommitWaits,
  longestPause,
  type MutationCaller,
  type Seen,
  type WatchedCommits,
} from './commit-waits.ts';
import type { MutationSite } from './mutation.ts';

/** Limit of the waits of one mutation by evidence in files, as a multiple of `calm`. */
const longestWait = 5;
/** Limit of its waits for git processes that are seen. */
const longestWaitForGit = 75;
/** How long a begun commit or process counts as under way, as a multiple of `calm`: an editor can stay open. */
const longestCommit = 150;
/** Time after a commit of a loop in which the next one is not expected, in milliseconds. */
const loopPause = 2 * longestPause;

/** How long after a move of HEAD a process must have started that did not make it, in milliseconds. */
const startError = 50;

/** The parts of a repository that show a commit under way. */
interface WatchedSite extends Pick<MutationSite, 'disk' | 'tree' | 'odb' | 'refs' | 'folder'> {
  /** The current configuration, for the aliases of git. */
  readonly config: () => GitConfig;
}

/**
 * Detects a `git commit` of another program that is under way.
 *
 * A plain `git commit` with an editor or a hook holds no lock, and fails if HEAD moves meanwhile. On Linux its
 * process is seen, as long as it runs: `GitProcesses`. Elsewhere, and for one on another machine or in
 * another container, its evidence is in two files. `git add` writes an index whose lines are neither ours nor those of HEAD:
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

  /** When HEAD had last moved, at the last poll. */
  #moved = 0;
  /** The begun commit at the last poll, and the last one that a wait did not see end. */
  #begun: string | undefined;
  #outlasted: string | undefined;
  readonly #processes: GitProcesses | undefined;
  /** The git processes that a wait did not see end, by id. */
  readonly #outlastedGits = new Set<string>();

  /** @param calm how long a staged change counts as evidence, in milliseconds; 0 turns waiting off. */
  constructor(site: WatchedSite, mark: IndexMark, calm: number) {
    this.#site = site;
    this.#mark = mark;
    this.#calm = calm;
    if (calm === 0) return;
    const isOurs = (tree: WorkTree, movesHead: boolean) => this.#meets(tree, movesHead);
    this.#processes = new GitProcesses(site.disk.files, isOurs, site.config);
  }

  /**
   * Shares a commit of ours with all servers of this work tree.
   *
   * @param parent of the first new commit.
   * @param index the current one.
   * @param last the last commit of a server before it.
   */
  setOwn(
    { oid, ref, parent }: Pick<OwnCommit, 'oid' | 'ref'> & { readonly parent: Oid | undefined },
    { file, key }: KnownIndex,
    last: OwnCommit | undefined,
  ): void {
    // After the commit nothing may fail, so nothing is read.
    const { base, foreign, quick } =
      last && last.oid === parent
        ? last
        : {
            base: parent,
            foreign: this.#moved,
            quick: this.#moved - (last?.foreign ?? 0) < this.#calm,
          };
    const time = Date.now();
    this.#mark.set({ oid, ref, base, time, foreign, quick, content: file.content, key });
  }

  /**
   * Begins the waits of one mutation.
   *
   * @param index reads the current index.
   * @param check refuses a change that cannot be made.
   * @throws MemoryError `busy` in a hook that git runs before it commits.
   */
  begin(index: () => KnownIndex, check: () => unknown, caller: MutationCaller): CommitWaits {
    const starter = this.#processes?.starter();
    if (starter?.git.movesHead && starter.hook !== undefined) {
      throw inHook(starter.git.name, starter.hook);
    }
    const commits: WatchedCommits = {
      isInside: starter !== undefined,
      running: () => this.#running(),
      look: (from) => {
        // Before HEAD, as a plan reads them.
        const known = index();
        const head = this.#site.refs.head();
        return { head, known, remaining: this.#remaining({ head, known }, from) };
      },
      check,
      outlast: (git) => {
        if (git) this.#outlastedGits.add(git.id);
        else this.#outlasted = this.#begun;
      },
    };
    const limits = { files: this.#calm * longestWait, git: this.#calm * longestWaitForGit };
    return new CommitWaits(commits, limits, caller);
  }

  /** The git process that a change has to wait for. */
  #running(): GitProcess | undefined {
    return this.#processes?.find().find((git) => {
      if (this.#outlastedGits.has(git.id)) return false;
      const limit = this.#calm * (git.movesHead ? longestCommit : longestWait);
      if (remaining(git.started, limit) <= 0) return false;
      // A commit that has moved HEAD only runs its last hook.
      return (
        git.command !== 'commit' ||
        this.#lastMove(this.#site.refs.head()) <= git.started + startError
      );
    });
  }

  /** Whether git in a work tree meets our changes. */
  #meets({ gitDir, commonDir }: WorkTree, movesHead: boolean): boolean {
    const { disk, tree, refs } = this.#site;
    if (gitDir === tree.gitDir) return true;
    if (!movesHead || commonDir !== tree.commonDir) return false;
    const branch = refs.branch();
    return branch !== undefined && new Refs(disk.files, gitDir, commonDir).branch() === branch;
  }

  /**
   * How long the evidence of a commit still counts, in milliseconds; 0 or less for none.
   *
   * @param from see `WatchedCommits.look`.
   */
  #remaining({ head, known }: Seen, from: Oid | 'now' | undefined): number {
    const { file } = known;
    const { tree } = this.#site;
    const moved = this.#lastMove(head);
    this.#moved = moved;
    const own = this.#mark.last;
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
  #remainingOfLoop(
    own: OwnCommit,
    { oid }: Head,
    moved: number,
    from: Oid | 'now' | undefined,
  ): number {
    if (oid === own.oid) return remaining(own.foreign, this.#calm);
    const isAtBegin = from === 'now' || oid === from;
    if (!isAtBegin || remaining(moved, loopPause) > 0) return 0;
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

/** The error of a change in a hook whose git would then refuse its own commit. */
function inHook(git: string, hook: string): MemoryError {
  const text = `"${git}" runs this change in its ${hook} hook, and would fail if it were committed.`;
  return new MemoryError('busy', text, {
    hint: 'Nothing was written. Change the memory in the post-commit hook, or outside of hooks.',
    data: { hook },
  });
}

/** The rest of a period that began then; negative when it is over, even if the clock was set back. */
function remaining(since: number, time: number): number {
  return time - Math.abs(Date.now() - since);
}
