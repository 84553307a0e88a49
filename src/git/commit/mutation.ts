import { dirname, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../../core/values/error.ts';
import { together } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import type { IndexChange } from '../index/index-file.ts';
import { indexKey, indexPath, type KnownIndex, writeIndex } from '../index/known-index.ts';
import type { GitLock } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid, Signature } from '../objects/object.ts';
import type { HeldRef, LogPlan, RefChange, RefDraft } from '../refs/ref-change.ts';
import { writerOf } from '../refs/ref-writer.ts';
import { reflogLines } from '../refs/reflog.ts';
import type { Refs } from '../refs/refs.ts';
import type { GitConfig } from '../repository/config.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { CommitPlan, OnStaged } from './commit-plan.ts';
import { endJournal, type Journal, writeJournal } from './journal.ts';
import { allLocks, type LockedWork, type Locks } from './mutation-locks.ts';
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
  readonly journal: Journal;
}

/**
 * Carries out a plan: files, index and ref change under git's own locks, in this order. The rename of
 * the ref is the commit point.
 *
 * The index is renamed before the ref, as git itself does. A `git commit` reads HEAD first and the
 * index second: one that sees the new HEAD also sees the new index, so its tree keeps our files. One
 * that sees the old HEAD fails, because HEAD is locked or has moved.
 *
 * Objects and journal are stored before git's locks are taken, because that takes long and git does not
 * wait for a lock.
 *
 * @param locked runs the second part under the locks for the plan's branch, or not at all.
 * @returns undefined when HEAD, the index or a file has changed since the plan; nothing was done then.
 * @throws MemoryError or a system error, after which nothing has changed.
 */
export async function applyPlan(
  site: MutationSite,
  prepared: Prepared,
  token: ProcessToken,
  locked: (run: LockedWork<Applied>) => Promise<Applied | undefined>,
): Promise<Applied | undefined> {
  const { plan, stored, known } = prepared;
  const mutation = new Mutation(site, prepared, token);
  const run = async (locks: Locks) => {
    const unsettled = [...(await stored)];
    try {
      checkIdle(site.disk.files, site.tree, site.refs);
      if (!holdsStill(site, plan, known) || !mutation.isAnnounced()) return undefined;
      return await mutation.run(locks, unsettled);
    } finally {
      locks.kept = mutation.unfinished;
      // Before the locks are released: after that others may change what the journal names.
      mutation.end();
    }
  };
  try {
    await together([stored, mutation.announce()]);
    return await locked(run);
  } finally {
    mutation.end();
  }
}

/** Whether HEAD, the index and the files are unchanged since the plan. */
function holdsStill(site: MutationSite, plan: CommitPlan, known: KnownIndex): boolean {
  const head = site.refs.head();
  if (head.ref !== plan.head.ref || head.oid !== plan.head.oid) return false;
  if (indexKey(site) !== known.key) return false;
  return areAsSeen(site.disk, site.tree.top, plan.files);
}

class Mutation {
  /** Whether its journal and locks must stay for the next process that cleans up. */
  unfinished = false;
  readonly #site: MutationSite;
  readonly #plan: CommitPlan;
  readonly #known: KnownIndex;
  readonly #token: ProcessToken;
  readonly #commit: Oid;
  readonly #journal: Journal;
  #staged: readonly Staged[] = [];
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
    token: ProcessToken,
  ) {
    this.#site = site;
    this.#plan = plan;
    this.#known = known;
    this.#token = token;
    this.#commit = oid;
    this.#onStaged = onStaged;
    this.#committer = committer;
    this.#journal = this.#describe(folders);
  }

  /** Writes the journal and stages the new files. */
  async announce(): Promise<void> {
    const { disk, folder, tree } = this.#site;
    const at = (i: number) => stagingPath(folder, this.#token.id, i);
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
    const { disk, folder } = this.#site;
    endJournal(disk, folder, this.#token.id);
    for (const [i] of this.#plan.files.entries()) {
      disk.tryDiscard(stagingPath(folder, this.#token.id, i));
    }
  }

  /** Whether the journal still describes what would happen. */
  isAnnounced(): boolean {
    const { disk, tree } = this.#site;
    const { logs, logLines, folders } = this.#journal;
    const now = [this.#logs(), missingFolders(disk, tree.top, this.#plan.files)];
    return isDeepStrictEqual(now, [{ logs, logLines }, folders]);
  }

  /**
   * @param unsettled folders of the objects.
   * @returns undefined when a file has changed under it; nothing was done then.
   */
  async run(locks: Locks, unsettled: readonly string[]): Promise<Applied | undefined> {
    let index: KnownIndex | undefined;
    try {
      index = await this.#prepare(locks, unsettled);
      const ref = await this.#lockRef(locks);
      this.#moveIndex(locks);
      await ref.place();
      this.#moved = true;
      await this.#finish(locks.index, ref);
    } catch (error) {
      this.#draft?.discard();
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
    const { head, commits } = this.#plan;
    const { ref, oid: parent } = head;
    const proposed = this.#plan.proposed.map((at) => commits[at]?.oid ?? this.#commit);
    return { commit: this.#commit, proposed, parent, ref, index, journal: this.#journal };
  }

  #describe(folders: readonly string[]): Journal {
    const { tree, commonDir } = this.#site;
    const { head, files } = this.#plan;
    return {
      token: this.#token.id,
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

  /** Does everything before the two renames; returns the new index, which is in its lock. */
  async #prepare(locks: Locks, unsettled: readonly string[]): Promise<KnownIndex> {
    const { disk, tree, folder } = this.#site;
    const { files, commits } = this.#plan;
    // Undoing puts back the user's edits from these objects, which exist nowhere else.
    if (files.some(({ before }) => before && this.#stores(before)))
      await disk.settle([...unsettled, folder]);
    const { top } = tree;
    makeFolders(disk, top, this.#journal.folders, this.#changed);
    const stats = await placeFiles(disk, top, this.#token, files, this.#staged, this.#changed);
    const set: IndexChange[] = [];
    const remove: string[] = [];
    for (const { path, after, mode } of files) {
      if (after === undefined) remove.push(path);
      else set.push({ path, oid: after, mode, stat: stats.get(path) });
    }
    const log = { commits, committer: this.#committer };
    const [index, refFolders] = await together([
      this.#fillIndex(locks.index, set, remove),
      this.#stageRef(locks, { to: this.#commit, log }),
      // The proofs that git's locks are ours: before the folders of these.
      disk.settle([folder]),
    ]);
    // After the files: a journaling file system flushes their names together with them.
    const forLocks = (locks.ref?.locks ?? []).flatMap(({ changed }) => changed);
    await disk.settle([...unsettled, ...this.#changed, ...forLocks, ...refFolders]);
    return index;
  }

  /** Writes the change of the ref; returns the folders to settle before it. */
  async #stageRef({ ref, draft }: Locks, change: RefChange): Promise<readonly string[]> {
    if (ref || !draft) return ref?.stage(change) ?? [];
    this.#draft = await draft(change);
    return this.#draft.folders;
  }

  /**
   * Takes the lock of the ref where it was not taken with that of the index.
   *
   * @throws FileChangedError when HEAD has moved before that.
   */
  async #lockRef(locks: Locks): Promise<HeldRef> {
    const draft = this.#draft;
    this.#draft = undefined;
    locks.ref ??= await draft?.lock();
    if (!locks.ref) throw new Error('the ref is not locked');
    const { ref, oid } = this.#site.refs.head();
    const { head } = this.#plan;
    if (draft && (ref !== head.ref || oid !== head.oid)) throw new FileChangedError();
    return locks.ref;
  }

  #stores(oid: Oid): boolean {
    return this.#plan.objects.some((object) => object.oid === oid);
  }

  /** Writes the new index, unless no file changes: a later mtime would make git trust more lines. */
  async #fillIndex(
    lock: GitLock,
    set: readonly IndexChange[],
    remove: readonly string[],
  ): Promise<KnownIndex> {
    if (this.#plan.files.length === 0) return this.#known;
    const { trees } = this.#plan;
    return writeIndex(this.#site, this.#known.file, { set, remove, trees }, lock);
  }

  /** Renames the new index into place; the ref follows at once, or `#recover` resets the lines. */
  #moveIndex(locks: Locks): void {
    for (const lock of allLocks(locks)) lock.check();
    if (this.#plan.files.length === 0) return;
    const { disk, tree } = this.#site;
    locks.index.commit(indexPath(disk.files, tree));
  }

  async #finish(index: GitLock, ref: HeldRef): Promise<void> {
    const { disk, tree } = this.#site;
    // Now, so that its removal is on the medium before that of our proof that it was ours.
    index.release();
    await ref.finish([tree.gitDir, dirname(indexPath(disk.files, tree))]);
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
      await settle(this.#site, this.#token, this.#journal, side);
      if (side === 'elsewhere') await takeBack(this.#site, this.#token, this.#journal);
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
