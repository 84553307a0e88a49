import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../../core/error.ts';
import { removeIfEmpty, together } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import type { IndexChange } from '../index/index-file.ts';
import { indexKey, type KnownIndex, writeIndex } from '../index/known-index.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid, Signature } from '../objects/object.ts';
import { appendReflogs, type Reflog, reflogLines, reflogsOf } from '../refs/reflog.ts';
import type { Refs } from '../refs/refs.ts';
import type { GitConfig } from '../repository/config.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { CommitPlan } from './commit-plan.ts';
import { endJournal, type Journal, writeJournal } from './journal.ts';
import {
  FileChangedError,
  isAsSeen,
  makeFolders,
  missingFolders,
  placeFiles,
  type Staged,
  stageFiles,
  stagingPath,
} from './placement.ts';
import { type RefState, type RepositorySite, settle, sideOf, takeBack } from './recovery.ts';
import { checkIdle } from './state.ts';

/** What a mutation needs of its repository. */
export interface MutationSite extends RepositorySite {
  readonly tree: WorkTree;
  readonly refs: Refs;
  readonly config: GitConfig;
}

/** Commits that are worked out, and that no branch holds yet. */
export interface Prepared {
  /** The last of them. */
  readonly oid: Oid;
  readonly plan: CommitPlan;
  /** The folders that its files need and that are not there yet; see `missingFolders`. */
  readonly folders: readonly string[];
  /** Fulfilled when all objects of the plan are stored, with the folders to settle. */
  readonly stored: Promise<Iterable<string>>;
  /** What they were worked out from. */
  readonly known: KnownIndex;
  readonly config: GitConfig;
  readonly committer: Signature;
}

/** A mutation that has come to be. */
export interface Applied {
  readonly commit: Oid;
  /** Where HEAD was before; undefined on an unborn branch. */
  readonly parent: Oid | undefined;
  readonly ref: string | undefined;
  /** Undefined where it has to be read again. */
  readonly index: KnownIndex | undefined;
}

/**
 * Does some work while nobody else can change HEAD, this branch or the index.
 *
 * @param ref full name of the branch; undefined when HEAD is detached.
 */
export async function underLocks<T>(
  site: MutationSite,
  ref: string | undefined,
  token: ProcessToken,
  wait: LockWait,
  work: (locks: Locks) => Promise<T>,
): Promise<T> {
  const locks = await takeLocks(site, ref, token, wait);
  try {
    return await work(locks);
  } finally {
    for (const lock of all(locks)) locks.kept ? lock.leave() : lock.release();
  }
}

/**
 * Carries out a plan: files, index and ref change under git's own locks, in this order. The rename of
 * the ref is the commit point.
 *
 * The index is renamed before the ref, as git itself does. A `git commit` reads HEAD first and the
 * index second: one that sees the new HEAD also sees the new index, so its tree keeps our files. One
 * that sees the old HEAD fails, because HEAD is locked or has moved.
 *
 * What takes long and harms nobody, storing the objects and the journal, is done before a lock of
 * git's is taken: git itself does not wait for one.
 *
 * @param locked runs the second part under the locks for the plan's branch, or not at all.
 * @returns undefined when something that the plan rests on has changed meanwhile; nothing was done.
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
    const unsettled = [...(await stored), site.folder];
    try {
      checkIdle(site.disk.files, site.tree.gitDir);
      if (!holdsStill(site, plan, known) || !mutation.isAnnounced()) return undefined;
      return await mutation.run(locks, unsettled);
    } finally {
      locks.kept = mutation.unfinished;
      // Before the locks are let go: after that others change what the journal speaks of.
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

/** Work that is done under locks; undefined when it has come to nothing. */
export type LockedWork<T> = (locks: Locks) => Promise<T | undefined>;

/** The locks of git's that a mutation holds. */
export interface Locks {
  readonly index: GitLock;
  readonly head: GitLock;
  /** Undefined when HEAD is detached: then HEAD itself is what changes. */
  readonly ref: GitLock | undefined;
  /** Whether they have to stay for whoever cleans up. */
  kept: boolean;
}

/** Of all of them, that of what the commit moves is the first. */
function all({ ref, head, index }: Locks): [GitLock, ...GitLock[]] {
  return ref ? [ref, head, index] : [head, index];
}

/** Whether nobody has removed one of the locks; an undone mutation may have let go of the index. */
export function areHeld(locks: Locks): boolean {
  return all(locks).every((lock) => lock.isOurs());
}

/** In the order in which git takes them, so that two programs never wait for each other. */
async function takeLocks(
  site: MutationSite,
  ref: string | undefined,
  token: ProcessToken,
  wait: LockWait,
): Promise<Locks> {
  const { disk, folder, tree } = site;
  const taken: GitLock[] = [];
  const take = async (target: string, role: 'index' | 'head' | 'ref') => {
    const lock = await GitLock.take(disk, target, role, folder, token, wait);
    taken.push(lock);
    return lock;
  };
  try {
    const index = await take(join(tree.gitDir, 'index'), 'index');
    const head = await take(join(tree.gitDir, 'HEAD'), 'head');
    const own = ref === undefined ? undefined : await take(refPath(site, ref), 'ref');
    return { index, head, ref: own, kept: false };
  } catch (error) {
    for (const lock of taken.reverse()) lock.release();
    throw error;
  }
}

function refPath(site: MutationSite, ref: string): string {
  return join(site.refs.folderOf(ref), ref);
}

/** Whether HEAD, the index and the files are still what the plan was made from. */
function holdsStill(site: MutationSite, plan: CommitPlan, known: KnownIndex): boolean {
  const head = site.refs.head();
  if (head.ref !== plan.head.ref || head.oid !== plan.head.oid) return false;
  if (indexKey(site) !== known.key) return false;
  return plan.files.every((file) => isAsSeen(site.disk, site.tree.top, file));
}

class Mutation {
  /** Whether its journal and its locks have to stay for whoever cleans up. */
  unfinished = false;
  readonly #site: MutationSite;
  readonly #plan: CommitPlan;
  readonly #known: KnownIndex;
  readonly #token: ProcessToken;
  readonly #commit: Oid;
  readonly #journal: Journal;
  #staged: readonly Staged[] = [];
  /** Folders whose entries have to be on the medium before the mutation is acknowledged. */
  readonly #changed = new Set<string>();
  /** Whether it has happened, as far as the disk has said so. */
  #moved = false;
  #ended = false;

  constructor(
    site: MutationSite,
    { oid, plan, folders, known, committer }: Prepared,
    token: ProcessToken,
  ) {
    this.#site = site;
    this.#plan = plan;
    this.#known = known;
    this.#token = token;
    this.#commit = oid;
    this.#journal = this.#describe(folders, committer);
  }

  /** Puts on disk what is going to happen, and the files that are to be placed. */
  async announce(): Promise<void> {
    const { disk, folder, tree } = this.#site;
    const at = (i: number) => stagingPath(folder, this.#token.id, i);
    [, this.#staged] = await together([
      writeJournal(disk, folder, this.#journal),
      stageFiles(disk, tree.top, this.#plan.files, at),
    ]);
  }

  /** Leaves nothing behind, unless there is something left to clean up. */
  end(): void {
    if (this.unfinished || this.#ended) return;
    // The journal may be that of the next attempt by then.
    this.#ended = true;
    const { disk, folder } = this.#site;
    endJournal(disk, folder, this.#token.id);
    for (const [i] of this.#plan.files.entries()) {
      disk.tryDiscard(stagingPath(folder, this.#token.id, i));
    }
  }

  /** Whether what was announced is still what would happen. */
  isAnnounced(): boolean {
    const { disk, tree } = this.#site;
    const { logs, folders } = this.#journal;
    const now = [this.#logs(), missingFolders(disk, tree.top, this.#plan.files)];
    return isDeepStrictEqual(now, [logs, folders]);
  }

  /**
   * @param unsettled folders of the objects and of the proofs of the locks.
   * @returns undefined when a file has changed under it; nothing was done then.
   */
  async run(locks: Locks, unsettled: readonly string[]): Promise<Applied | undefined> {
    let index: KnownIndex | undefined;
    try {
      index = await this.#prepare(locks, unsettled);
      this.#moveIndex(locks);
      this.#moveRef(locks);
      this.#moved = true;
      await this.#finish(locks);
    } catch (error) {
      // What has happened and what has not is for the disk to say: a rename that failed may be done.
      const side = await this.#recover(error);
      if (side !== 'after') {
        // A folder that somebody has removed is as good as a file that he has changed.
        if (error instanceof FileChangedError || errno(error) === 'ENOENT') return undefined;
        throw error;
      }
      this.#site.warn(`The commit ${this.#commit} was made; finishing it failed: ${error}`);
      index = undefined;
    }
    const { ref, oid: parent } = this.#plan.head;
    return { commit: this.#commit, parent, ref, index };
  }

  #describe(folders: readonly string[], committer: Signature): Journal {
    const { tree, commonDir } = this.#site;
    const { head, files, commits } = this.#plan;
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
      logs: this.#logs(),
      logLines: reflogLines(commits, committer),
      folders,
    };
  }

  #logs(): Reflog[] {
    const { disk, commonDir, config, refs } = this.#site;
    const { ref } = this.#plan.head;
    return reflogsOf(disk, commonDir, config, refs, ref ? ['HEAD', ref] : ['HEAD']);
  }

  /** Everything up to the commit point; the new index as it lies in its lock. */
  async #prepare(locks: Locks, unsettled: readonly string[]): Promise<KnownIndex> {
    const { disk, commonDir, tree } = this.#site;
    const { logs, logLines } = this.#journal;
    const { files } = this.#plan;
    // Undoing it puts back what a person had written, and nobody had stored.
    if (files.some(({ before }) => before && this.#stores(before))) await disk.settle(unsettled);
    const { top } = tree;
    makeFolders(disk, top, this.#journal.folders, this.#changed);
    const stats = await placeFiles(disk, top, this.#token, files, this.#staged, this.#changed);
    const set: IndexChange[] = [];
    const remove: string[] = [];
    for (const { path, after, mode } of files) {
      if (after === undefined) remove.push(path);
      else set.push({ path, oid: after, mode, stat: stats.get(path) });
    }
    const [ref] = all(locks);
    const [index, , logFolders] = await together([
      this.#fillIndex(locks.index, set, remove),
      ref.fill([Buffer.from(`${this.#commit}\n`, 'latin1')]),
      appendReflogs(disk, commonDir, logs, logLines),
    ]);
    // After the files: a journal of the file system that has taken them has taken their names, too.
    await disk.settle([...unsettled, ...this.#changed, ...ref.changed]);
    // The git directory may be among them, with git's locks in it: after the proofs that they are ours.
    await disk.settle(logFolders);
    return index;
  }

  #stores(oid: Oid): boolean {
    return this.#plan.objects.some((object) => object.oid === oid);
  }

  /** Without a changed file the index stays the file that it is: a later time of it would mean more. */
  async #fillIndex(
    lock: GitLock,
    set: readonly IndexChange[],
    remove: readonly string[],
  ): Promise<KnownIndex> {
    if (this.#plan.files.length === 0) return this.#known;
    const { trees } = this.#plan;
    return writeIndex(this.#site, this.#known.file, { set, remove, trees }, lock);
  }

  /** Puts the new index in place; the ref follows at once, or `#recover` resets the lines. */
  #moveIndex(locks: Locks): void {
    for (const lock of all(locks)) lock.check();
    if (this.#plan.files.length === 0) return;
    locks.index.commit(join(this.#site.tree.gitDir, 'index'));
  }

  #moveRef(locks: Locks): void {
    const [moving] = all(locks);
    locks.head.check();
    const site = this.#site;
    const name = this.#plan.head.ref;
    const target = name === undefined ? join(site.tree.gitDir, 'HEAD') : refPath(site, name);
    try {
      moving.commit(target);
    } catch (error) {
      if (site.disk.files.lstat(target)?.kind !== 'directory') throw error;
      // Git leaves empty folders behind where a branch of that name once had others below it.
      this.#removeEmptyFolders(target);
      moving.commit(target);
    }
  }

  #removeEmptyFolders(folder: string): void {
    const { disk } = this.#site;
    for (const { name, kind } of disk.files.list(folder) ?? []) {
      if (kind === 'directory') this.#removeEmptyFolders(join(folder, name));
    }
    removeIfEmpty(disk, folder);
  }

  async #finish({ index, head }: Locks): Promise<void> {
    const { disk, tree, refs } = this.#site;
    const { ref } = this.#plan.head;
    // Now, so that their removal is on the medium before that of our proof that they were ours.
    index.release();
    head.release();
    const refFolder = ref === undefined ? tree.gitDir : dirname(join(refs.folderOf(ref), ref));
    await disk.settle([refFolder, tree.gitDir]);
  }

  /**
   * Finishes what has happened although something failed, and undoes what has not.
   *
   * @throws MemoryError when nothing has happened and not all of it can be undone now.
   */
  async #recover(cause: unknown): Promise<RefState> {
    // Where the disk does not even say what has happened, it is what it has said last.
    let side: RefState = this.#moved ? 'after' : 'before';
    try {
      side = sideOf(this.#site, this.#journal);
      await settle(this.#site, this.#token, this.#journal, side);
      if (side === 'elsewhere') await takeBack(this.#site, this.#token, this.#journal);
    } catch (error) {
      // Whoever takes the process lock next does what could not be done now. Until then nobody may
      // commit the half of it: git's locks stay.
      this.unfinished = true;
      if (side !== 'after') throw undone(cause, error);
    }
    return side;
  }
}

/** The error of a change that was given up, with its files still in place. */
function undone(cause: unknown, error: unknown): MemoryError {
  return new MemoryError(
    'storage',
    `Changing the memory failed (${cause}), undoing it too (${error}).`,
    {
      hint: 'Nothing was committed; the files are put back by the next call, when the disk allows it.',
      cause,
    },
  );
}
