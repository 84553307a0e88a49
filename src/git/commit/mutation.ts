import { dirname, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../../core/values/error.ts';
import { together } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { type IndexChange, isSameForGit, type LineStat } from '../index/index-file.ts';
import { indexKey, indexPath, type KnownIndex, writeIndex } from '../index/known-index.ts';
import type { GitLock, LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid, Signature } from '../objects/object.ts';
import { type HeldRef, type LogPlan, type RefDraft, refSite } from '../refs/ref-change.ts';
import { draftRef, writerOf } from '../refs/ref-writer.ts';
import { reflogLines } from '../refs/reflog.ts';
import type { Head, Refs } from '../refs/refs.ts';
import type { GitConfig } from '../repository/config.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { CommitPlan, OnStaged } from './commit-plan.ts';
import type { Seen } from './commit-waits.ts';
import { endJournal, type Journal, writeJournal } from './journal.ts';
import { endLocks, type Locks, openLocks, takeLocks } from './mutation-locks.ts';
import {
  areAsSeen,
  FileChangedError,
  makeFolders,
  missingFolders,
  placeFiles,
  type Staged,
  stageFiles,
  stagingPath,
} from './placement.ts';
import { type RefState, type RepositorySite, settle, sideOf, takeBack } from './recovery.ts';
import { checkIdle } from './state.ts';

/** The parts of a repository that a mutation needs. */
export interface MutationSite extends RepositorySite {
  readonly tree: WorkTree;
  readonly refs: Refs;
  readonly config: GitConfig;
}

/** A turn with the process lock: its token, and how long to wait for the locks of others. */
export interface Turn {
  readonly token: ProcessToken;
  readonly wait: LockWait;
  /** Whether the change may go on, asked when all is written and before a lock of git is taken. */
  readonly isCurrent?: () => boolean;
  /** Whether a git process has begun, asked right before the lock of the index is taken. */
  readonly hasGitBegun?: () => boolean;
  /** Whether another program may have read the index, and would write it over the new one. */
  readonly isIndexRead?: () => boolean;
}

/** Planned commits that are not on a branch yet. */
export interface Prepared {
  /** The last of them. */
  readonly oid: Oid;
  readonly plan: CommitPlan;
  /** The missing folders of its files; see `missingFolders`. */
  readonly folders: readonly string[];
  /** Fulfilled when all objects of the plan are stored, with the folders to settle. */
  readonly stored: Promise<Iterable<string>>;
  /** The index that they were planned from. */
  readonly known: KnownIndex;
  readonly config: GitConfig;
  readonly committer: Signature;
  readonly onStaged?: OnStaged | undefined;
}

/** A mutation that has happened. */
export interface Applied {
  readonly commit: Oid;
  /** The commit of each proposal. */
  readonly proposed: readonly Oid[];
  /** HEAD before it; undefined on an unborn branch. */
  readonly parent: Oid | undefined;
  readonly ref: string | undefined;
  /** Undefined if it must be read again. */
  readonly index: KnownIndex | undefined;
}

/**
 * Carries out a plan: files, index and ref change under git's own locks, in this order. The rename of
 * the ref is the commit point.
 *
 * The index is renamed before the ref, as git itself does. A `git commit` reads HEAD first and the
 * index second: one that sees the new HEAD also sees the new index, so its tree keeps our files. One
 * that sees the old HEAD fails, because HEAD is locked or has moved.
 *
 * Git does not wait for the lock of the index. So all that takes long is done before it is taken: objects,
 * journal, the new files, the new index and the new value of the ref are on the medium then, the ref is locked,
 * and all was looked at. Under it are only the renames of the files and of the index, and the looks that
 * nothing else can protect. All is flushed afterwards.
 *
 * @param held git's locks, if they are taken already.
 * @returns undefined when HEAD, the index or a file has changed since the plan, or git has begun; nothing
 *   was done then.
 * @throws MemoryError or a system error, after which nothing has changed.
 */
export async function applyPlan(
  site: MutationSite,
  prepared: Prepared,
  turn: Turn,
  held?: Locks,
): Promise<Applied | undefined> {
  const mutation = new Mutation(site, prepared, turn);
  try {
    const [unsettled] = await together([prepared.stored, mutation.announce()]);
    const locks = held ?? openLocks(site, turn.token);
    try {
      await mutation.write(locks, [...unsettled]);
      if (turn.isCurrent?.() === false) return undefined;
      return (await mutation.lock(locks)) ? await mutation.run(locks) : undefined;
    } finally {
      locks.kept = mutation.unfinished;
      // Before the locks are released: after that others may change what the journal names.
      mutation.end();
      if (!held) endLocks(locks);
    }
  } finally {
    mutation.end();
  }
}

/**
 * Whether HEAD, the index and the files are unchanged since the plan.
 *
 * @param seen HEAD and the index of just now, if the caller has looked at them.
 */
export function holdsStill(
  site: MutationSite,
  plan: CommitPlan,
  known: KnownIndex,
  seen?: Seen,
): boolean {
  if (!isAtHead(plan, seen?.head ?? site.refs.head())) return false;
  const key = seen ? seen.known.key : indexKey(site);
  if (key !== known.key) return false;
  return areAsSeen(site.disk, site.tree.top, plan.files);
}

function isAtHead({ head }: CommitPlan, { ref, oid }: Head): boolean {
  return ref === head.ref && oid === head.oid;
}

class Mutation {
  /** Whether its journal and locks must stay for the next process that cleans up. */
  unfinished = false;
  readonly #site: MutationSite;
  readonly #plan: CommitPlan;
  readonly #known: KnownIndex;
  readonly #turn: Turn;
  readonly #commit: Oid;
  /** The file of the index. */
  readonly #target: string;
  readonly #journal: Journal;
  #staged: readonly Staged[] = [];
  /** The stats of the files for the index: those that are expected, and then those that they have. */
  readonly #stats = new Map<string, LineStat | undefined>();
  /** The new index with the expected stats. */
  #index: KnownIndex | undefined;
  /** Folders whose entries must be on the medium before the mutation is acknowledged. */
  readonly #changed = new Set<string>();
  /** Whether the rename of the ref has succeeded. */
  #moved = false;
  #ended = false;
  #draft: RefDraft | undefined;
  readonly #committer: Signature;
  readonly #onStaged: OnStaged | undefined;

  constructor(
    site: MutationSite,
    { oid, plan, folders, known, committer, onStaged }: Prepared,
    turn: Turn,
  ) {
    this.#site = site;
    this.#plan = plan;
    this.#known = known;
    this.#turn = turn;
    this.#commit = oid;
    this.#target = indexPath(site.disk.files, site.tree);
    this.#onStaged = onStaged;
    this.#committer = committer;
    this.#journal = this.#describe(folders);
  }

  /** Writes the journal and stages the new files. */
  async announce(): Promise<void> {
    const { disk, folder, tree } = this.#site;
    const at = (i: number) => stagingPath(folder, this.#turn.token.id, i);
    [, this.#staged] = await together([
      writeJournal(disk, folder, this.#journal),
      stageFiles(disk, tree.top, this.#plan.files, at, this.#onStaged),
    ]);
  }

  /** Removes journal and staged files, unless another process must clean up. */
  end(): void {
    if (this.unfinished || this.#ended) return;
    // A second call could end the journal of the next attempt.
    this.#ended = true;
    this.#discardDraft();
    const { disk, folder } = this.#site;
    endJournal(disk, folder, this.#turn.token.id);
    for (const [i] of this.#plan.files.entries()) {
      disk.tryDiscard(stagingPath(folder, this.#turn.token.id, i));
    }
  }

  /** Whether the journal still describes what would happen. */
  #isAnnounced(): boolean {
    const { disk, tree } = this.#site;
    const { logs, logLines, folders } = this.#journal;
    const now = [this.#logs(), missingFolders(disk, tree.top, this.#plan.files)];
    return isDeepStrictEqual(now, [{ logs, logLines }, folders]);
  }

  /**
   * Writes the new index and the new value of the ref to the medium, before git's locks are taken.
   *
   * @param unsettled folders of the objects.
   */
  async write({ index, ref }: Locks, unsettled: readonly string[]): Promise<void> {
    const { disk, folder, refs } = this.#site;
    const { commits, head } = this.#plan;
    const change = { to: this.#commit, log: { commits, committer: this.#committer } };
    const stageRef = async (): Promise<readonly string[]> => {
      if (ref) return ref.stage(change);
      const site = refSite(this.#site, this.#turn.token, this.#turn.wait);
      this.#draft = await draftRef(refs, site, head.ref ?? 'HEAD', change);
      return this.#draft.folders;
    };
    for (const { placement, stat } of this.#staged) this.#stats.set(placement.path, stat);
    // The files of both locks are created before the flush of their folder begins.
    const [known, folders] = await together([
      this.#fillIndex(index),
      stageRef(),
      disk.settle([folder, ...unsettled]),
    ]);
    this.#index = known;
    await disk.settle(folders);
  }

  /**
   * Takes git's locks, if they are not taken already.
   *
   * @returns whether all is still as planned and no git has begun.
   */
  async lock(locks: Locks): Promise<boolean> {
    const draft = this.#draft;
    if (!draft) return this.#isReady();
    const isTaken = await takeLocks(locks, draft, this.#turn.wait, () => this.#isReady());
    if (isTaken) this.#draft = undefined;
    return isTaken;
  }

  #isReady(): boolean {
    const { disk, tree, refs } = this.#site;
    checkIdle(disk.files, tree, refs);
    if (!isAtHead(this.#plan, refs.head()) || !this.#isAnnounced()) return false;
    // Last: a git that starts now reaches its lock only when ours is over.
    return !this.#turn.hasGitBegun?.();
  }

  /** @returns undefined when the index or a file has changed under it; nothing was done then. */
  async run(locks: Locks): Promise<Applied | undefined> {
    const { ref } = locks;
    if (!ref) throw new Error('the ref is not locked');
    if (indexKey(this.#site) !== this.#known.key) return undefined;
    let index: KnownIndex | undefined;
    try {
      index = await this.#placeFiles(locks.index);
      if (this.#turn.isIndexRead?.()) throw new FileChangedError();
      this.#moveIndex(locks.index);
      await ref.place();
      this.#moved = true;
      await this.#finish(locks.index, ref);
    } catch (error) {
      this.#discardDraft();
      // The disk decides what has happened: a rename that reported an error may be done.
      // Undoing removes the lock of the index; on Windows an open file would keep its name meanwhile.
      locks.index.leave();
      const side = await this.#recover(error);
      if (side !== 'after') {
        // A removed folder counts as a changed file.
        if (error instanceof FileChangedError || errno(error) === 'ENOENT') return undefined;
        throw error;
      }
      this.#site.warn(`The commit ${this.#commit} was made; finishing it failed: ${error}`);
      index = undefined;
    }
    const { head, commits, proposed: at } = this.#plan;
    const proposed = at.map((i) => commits[i]?.oid ?? this.#commit);
    return { commit: this.#commit, proposed, parent: head.oid, ref: head.ref, index };
  }

  #describe(folders: readonly string[]): Journal {
    const { tree, commonDir } = this.#site;
    const { head, files } = this.#plan;
    return {
      token: this.#turn.token.id,
      top: relative(commonDir, tree.top),
      gitDir: relative(commonDir, tree.gitDir),
      ref: head.ref,
      parent: head.oid,
      commit: this.#commit,
      files: files.map(({ path, before, after, mode }) => {
        return { path, before, after, mode, indexed: this.#known.file.find(path)?.oid };
      }),
      ...this.#logs(),
      folders,
    };
  }

  #logs(): LogPlan {
    const { config, refs } = this.#site;
    const { head, commits } = this.#plan;
    return writerOf(refs).planLogs(config, head.ref, reflogLines(commits, this.#committer));
  }

  /** Renames the files into place; returns the new index, which is in its lock. */
  async #placeFiles(lock: GitLock): Promise<KnownIndex> {
    const { disk, tree } = this.#site;
    const { files } = this.#plan;
    const { top } = tree;
    makeFolders(disk, top, this.#journal.folders, this.#changed);
    const stats = await placeFiles(disk, top, this.#turn.token, files, this.#staged, this.#changed);
    const isAsWritten = files.every(({ path }) =>
      isSameForGit(this.#stats.get(path), stats.get(path)),
    );
    for (const [path, stat] of stats) this.#stats.set(path, stat);
    return isAsWritten && this.#index ? this.#index : this.#fillIndex(lock);
  }

  #discardDraft(): void {
    this.#draft?.discard();
    this.#draft = undefined;
  }

  /** Writes the new index, unless no file changes: a later mtime would make git trust more lines. */
  async #fillIndex(lock: GitLock): Promise<KnownIndex> {
    const { files, trees } = this.#plan;
    if (files.length === 0) return this.#known;
    const set: IndexChange[] = [];
    const remove: string[] = [];
    for (const { path, after, mode } of files) {
      if (after === undefined) remove.push(path);
      else set.push({ path, oid: after, mode, stat: this.#stats.get(path) });
    }
    return writeIndex(this.#site, this.#known.file, { set, remove, trees }, lock);
  }

  /** Renames the new index into place; the ref follows at once, or `#recover` resets the lines. */
  #moveIndex(lock: GitLock): void {
    if (this.#plan.files.length === 0) lock.check();
    else lock.commit(this.#target);
  }

  async #finish(index: GitLock, ref: HeldRef): Promise<void> {
    const { tree } = this.#site;
    // Now, so that its removal is on the medium before that of our proof that it was ours.
    index.release();
    await ref.finish([tree.gitDir, dirname(this.#target), ...this.#changed]);
  }

  /**
   * Finishes a mutation that has happened although a step failed, and undoes any other.
   *
   * @throws MemoryError when it has not happened and cannot be undone completely now.
   */
  async #recover(cause: unknown): Promise<RefState> {
    // If the ref cannot be read, the result of the last rename decides.
    let side: RefState = this.#moved ? 'after' : 'before';
    try {
      side = sideOf(this.#site, this.#journal);
      await settle(this.#site, this.#turn.token, this.#journal, side);
      if (side === 'elsewhere') await takeBack(this.#site, this.#turn.token, this.#journal);
    } catch (error) {
      // The next holder of the process lock does the rest. Until then git's locks stay, so that the
      // half-done change cannot be committed.
      this.unfinished = true;
      if (side !== 'after') throw undone(cause, error);
    }
    return side;
  }
}

/** The error of a change that failed and whose files are still in place. */
function undone(cause: unknown, error: unknown): MemoryError {
  return new MemoryError(
    'storage',
    `Changing the memory failed (${cause}), and undoing the change also failed (${error}).`,
    {
      hint: 'Nothing was committed. The next call puts the files back when the disk allows it.',
      cause,
    },
  );
}
