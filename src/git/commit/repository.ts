import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import type { Stat } from '../disk/file-layer.ts';
import { Folder } from '../disk/folder.ts';
import { storageError } from '../disk/storage-error.ts';
import type { IndexEntry, IndexFile, Unmerged } from '../index/index-file.ts';
import { IndexMark, type OwnCommit } from '../index/index-mark.ts';
import { timeOf } from '../index/known-index.ts';
import type { LockWait } from '../locks/lock.ts';
import { RepositoryQueue } from '../locks/queue.ts';
import type { ProcessToken } from '../locks/token.ts';
import type { Oid } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { type Head, Refs } from '../refs/refs.ts';
import { GitConfig } from '../repository/config.ts';
import { Conversions } from '../repository/conversions.ts';
import type { WorkTree } from '../repository/discover.ts';
import { IgnoreRules } from '../repository/ignore.ts';
import { checkOwner } from '../repository/owner.ts';
import { openObjects } from '../repository/repository-format.ts';
import { sharedBits, shareTree, unflushedDisk } from '../repository/shared-repository.ts';
import { CommitAttempts, inList, type Propose, type ProposeAll } from './commit-attempts.ts';
import type { CommitWaits, MutationCaller } from './commit-waits.ts';
import { CommitWatch } from './commit-watch.ts';
import { initRepository } from './create-repository.ts';
import { DirectChanges } from './direct-changes.ts';
import { checkInUse } from './in-use.ts';
import type { Applied, MutationSite, Prepared } from './mutation.ts';
import { stagedIn } from './prepare.ts';
import type { RepositorySite } from './recovery.ts';
import { recover } from './recovery.ts';
import { Remotes } from './remotes.ts';
import type { RepositoryOptions } from './repository-options.ts';
import { type ResolveMerge, resolveMerge } from './resolve-merge.ts';
import { doesSign } from './signing.ts';
import { StaleIndex } from './stale-index.ts';
import { checkFormat, checkIdle, checkStorage, isKnownStorage, underWayIn } from './state.ts';

/** A commit that was made. */
export interface BranchCommit {
  readonly oid: Oid;
  /** The branch that contains it; undefined on a detached HEAD. */
  readonly branch: string | undefined;
}

/**
 * The user's repository: reads it, and commits single files to it without changing anything else.
 */
export class Repository {
  readonly tree: WorkTree;
  readonly odb: ObjectDatabase;
  /** The remotes of its configuration. */
  readonly remotes: Remotes;
  /** The changes that leave index and work tree alone. */
  readonly direct: DirectChanges;
  /** For files of the git directory that may be lost in a power cut. */
  readonly unflushed: Disk;
  /** The files of the work tree. */
  readonly work: Folder;
  readonly #refs: Refs;
  readonly #disk: Disk;
  readonly #options: RepositoryOptions;
  readonly #site: RepositorySite;
  readonly #queue: RepositoryQueue;
  readonly #mark: IndexMark;
  readonly #watch: CommitWatch;
  readonly #stale: StaleIndex;
  readonly #attempts: CommitAttempts;
  #config:
    | {
        readonly branch: string | undefined;
        readonly config: GitConfig;
        readonly rules: IgnoreRules;
        readonly conversions: Conversions;
      }
    | undefined;
  /** See `sharedBits`; undefined until the configuration is read. */
  #sharedBits: number | undefined;

  constructor(disk: Disk, tree: WorkTree, options: RepositoryOptions) {
    this.tree = tree;
    this.#disk = disk;
    this.#options = options;
    const { commonDir } = tree;
    const folder = join(commonDir, 'memory-bank');
    this.#mark = new IndexMark(disk, folder, tree.gitDir);
    const bits = () => {
      if (this.#sharedBits === undefined) this.config();
      return this.#sharedBits ?? 0;
    };
    shareTree(disk, tree, bits);
    this.unflushed = unflushedDisk(disk.files, tree, bits);
    this.odb = openObjects(disk, commonDir, options.env);
    this.#site = { disk, odb: this.odb, commonDir, folder, warn: options.warn };
    const { lockTimeout } = options;
    this.#queue = new RepositoryQueue(disk, folder, lockTimeout, (...leftovers) =>
      recover(this.#site, ...leftovers),
    );
    this.work = new Folder(disk.files, tree.top);
    this.#refs = new Refs(disk.files, tree.gitDir, tree.commonDir);
    const watched = { ...this.#site, tree, refs: this.#refs, config: () => this.config() };
    this.#watch = new CommitWatch(watched, this.#mark, options.calm);
    this.remotes = new Remotes(this, disk, options.env);
    this.direct = new DirectChanges(this.#queue, disk, {
      now: options.now,
      site: () => this.#siteFor(this.#knownConfig()),
    });
    this.#stale = new StaleIndex({ ...this.#site, tree, refs: this.#refs }, this.#mark);
    this.#attempts = new CommitAttempts({
      ...this.#site,
      ...{ tree, refs: this.#refs, options },
      checkWritable: () => this.checkWritable(),
      pathRules: () => this.#config ?? { rules: undefined, conversions: undefined },
    });
  }

  /** @throws MemoryError `unsupported` for an unknown format of refs or objects. */
  get refs(): Refs {
    checkStorage(this.config());
    return this.#refs;
  }

  /** Whether the format of refs and objects is a known one. */
  get canReadRefs(): boolean {
    return isKnownStorage(this.config());
  }

  head(): Head {
    return this.refs.head();
  }

  /** The user's current configuration. */
  config(): GitConfig {
    const known = this.#config;
    const branch = () => this.#refs.branch()?.replace(/^refs\/heads\//, '');
    const same = known && (!known.config.asksForBranch || known.branch === branch());
    if (same && known.config.isCurrent(this.#disk.files)) return known.config;
    const { gitDir, commonDir } = this.tree;
    const sources = { gitDir, commonDir, branch: branch(), env: this.#options.env };
    const config = GitConfig.read(this.#disk.files, sources);
    this.#sharedBits = sharedBits(config);
    const site = [this.#disk.files, this.tree, config, this.#options.env] as const;
    const [rules, conversions] = [new IgnoreRules(...site), new Conversions(...site)];
    this.#config = { branch: sources.branch, config, rules, conversions };
    return config;
  }

  /** The folder for our files that belong to no branch: caches, session state. */
  get folder(): string {
    return this.#site.folder;
  }

  /** Whether its commits are signed. */
  get signs(): boolean {
    return doesSign(this.#options.env);
  }

  /** Runs several changes of this object without any of another server between them; see `RepositoryQueue`. */
  hold<T>(action: () => Promise<T>): Promise<T> {
    return this.#queue.hold(action);
  }

  /** Finishes or undoes the mutation of a dead process; see `RepositoryQueue`. */
  repair(): Promise<void> {
    return this.#queue.repair();
  }

  /** Creates the repository; returns whether this process did. */
  async initialize(): Promise<boolean> {
    const { gitDir, top } = this.tree;
    const { env } = this.#options;
    try {
      checkOwner(this.#disk.files, top, undefined, env);
    } catch (error) {
      asStorageError(error);
    }
    const init = (token: ProcessToken, wait: LockWait) =>
      initRepository(this.#disk, gitDir, this.folder, env, token, wait);
    return this.#queue.take(undefined, init, true);
  }

  /**
   * One mutation, one commit.
   *
   * @param propose called under the process lock, and again when HEAD, the index or a file changed.
   * @throws MemoryError after which nothing has changed.
   */
  async commit(propose: Propose, caller?: MutationCaller): Promise<BranchCommit | undefined> {
    const [made] = await this.commitAll(inList(propose), caller);
    return made;
  }

  /**
   * One mutation, with one commit for each proposal: their files, index and ref change at once, and go
   * to the medium together.
   *
   * @returns the commits in the order of the proposals.
   * @throws MemoryError after which nothing has changed.
   */
  async commitAll(
    propose: ProposeAll,
    caller: MutationCaller = {},
  ): Promise<readonly BranchCommit[]> {
    const waits = this.#beginWaits(caller);
    for (;;) {
      await waits.waitForGit().catch(asStorageError);
      const made = await this.#commitIdle(propose, caller.signal, waits);
      if (made) return made;
    }
  }

  /** Like `commitAll`; returns undefined as soon as a git process commits. */
  #commitIdle(
    propose: ProposeAll,
    signal: AbortSignal | undefined,
    waits: CommitWaits,
  ): Promise<readonly BranchCommit[] | undefined> {
    return this.#queue.take(signal, async (token, patience) => {
      const last = await this.#stale.mend(token);
      this.#checkCommit();
      // A git that has started this process keeps its locks until it ends.
      const turn = { token, wait: waits.isInside ? { ...patience, limit: 0 } : patience };
      const applied = await this.#attempts.run(propose, waits, signal, turn);
      return applied && this.#made(applied, last);
    });
  }

  /** The first half of `commit`: plans the change and stores its objects. */
  async prepare(propose: Propose, caller: MutationCaller): Promise<Prepared | undefined> {
    const waits = this.#beginWaits(caller);
    await waits.waitForGit().catch(asStorageError);
    return this.#queue.take(caller.signal, async () => {
      this.#mark.get();
      this.#checkCommit();
      const seen = await waits.wait();
      const prepared = await this.#attempts.prepare(inList(propose), caller.signal, seen);
      await prepared?.stored;
      return prepared;
    });
  }

  /**
   * The second half of `commit`.
   *
   * @returns undefined when HEAD, the index or a file has changed since; nothing has changed then.
   */
  apply(prepared: Prepared, signal: AbortSignal): Promise<BranchCommit | undefined> {
    return this.#queue.take(signal, async (token, wait) => {
      const last = this.#mark.get();
      const applied = await this.#attempts.apply(prepared, { token, wait });
      return applied && this.#made(applied, last)[0];
    });
  }

  /**
   * Resolves unmerged files of the index, without a commit.
   *
   * @param settle called under git's lock of the index.
   */
  settleMerge(settle: ResolveMerge, signal: AbortSignal): Promise<void> {
    return this.#queue.take(signal, (token, wait) => {
      this.#options.checkCommit?.();
      return resolveMerge(this.#siteFor(this.#knownConfig()), settle, token, wait);
    });
  }

  /** The operation under way during which other programs must not commit; undefined for none. */
  underWay() {
    return underWayIn(this.#disk.files, this.tree.gitDir, this.#refs);
  }

  /** A path's line in the index; undefined without one, or if the index cannot be read. */
  staged(path: string): IndexEntry | undefined {
    return this.#readIndex()?.find(path);
  }

  /**
   * Compares files with the index as it is now: returns the blob of a file that nobody has changed since
   * it was staged, and undefined for one that has to be read.
   */
  staging(): (path: string, stat: Stat) => Oid | undefined {
    const file = this.#readIndex();
    const time = this.#attempts.index && timeOf(this.#attempts.index);
    if (time === undefined) return () => undefined;
    return (path, stat) => file?.unchanged(path, stat, time);
  }

  /** Whether git ignores a path, as a file or as a folder; true if its rules cannot be read. */
  ignores(path: string): boolean {
    this.config();
    try {
      this.#config?.rules.check([path, `${path}/file`]);
      return false;
    } catch (error) {
      if (error instanceof MemoryError) return true;
      throw error;
    }
  }

  /** The unmerged files below a folder; none if the index cannot be read. */
  unmergedBelow(folder: string): Unmerged[] {
    const index = this.#readIndex();
    return index?.unmerged ? index.unmergedBelow(folder) : [];
  }

  #readIndex(): IndexFile | undefined {
    try {
      return this.#attempts.readIndex().file;
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  /** The last values of a ref by its reflog, the newest first; empty without one. */
  earlierValues(ref: string): Oid[] {
    return this.refs.store.earlierValues(ref);
  }

  /**
   * Refuses a repository to which this program cannot commit, now or at all.
   *
   * @returns its configuration.
   * @throws MemoryError `busy`, `unsupported`.
   */
  checkWritable(): GitConfig {
    const config = this.#knownConfig();
    checkIdle(this.#disk.files, this.tree, this.#refs);
    return config;
  }

  /** Refuses paths of the work tree that git would convert; see `Conversions`. */
  checkUnconverted(paths: readonly string[]): void {
    this.config();
    const index = this.#readIndex();
    const staged = index ? stagedIn(this.odb, index) : () => undefined;
    this.#config?.conversions.check(paths, staged);
  }

  close(): void {
    this.#stale.close();
    this.#queue.close();
    this.odb.close();
  }

  /** The configuration of a repository with a supported format. */
  #knownConfig(): GitConfig {
    const config = this.config();
    checkFormat(config, this.tree);
    return config;
  }

  /** Refuses a commit that must not be made, or not here; the caller holds the process lock. */
  #checkCommit(): void {
    checkInUse(this.#disk.files, this.tree, this.#options.isCurrent);
    this.#options.checkCommit?.();
    // HEAD of an unknown kind of repository cannot be read: name the kind instead.
    this.#knownConfig();
  }

  /** Begins the waits of a mutation for commits of other programs. */
  #beginWaits(caller: MutationCaller): CommitWaits {
    const index = () => this.#attempts.readIndex();
    try {
      return this.#watch.begin(index, () => this.checkWritable(), caller);
    } catch (error) {
      return asStorageError(error);
    }
  }

  /** @param last the last commit of a server before it. */
  #made(applied: Applied | 'nothing', last: OwnCommit | undefined): BranchCommit[] {
    if (applied === 'nothing') return [];
    const { commit, proposed, parent, ref, index } = applied;
    this.#attempts.index = index;
    if (index) this.#watch.setOwn({ oid: commit, ref, parent }, index, last);
    this.#stale.watch(() => this.#queue.take(undefined, (token) => this.#stale.mend(token)));
    const branch = ref?.replace(/^refs\/heads\//, '');
    return proposed.map((oid) => ({ oid, branch }));
  }

  #siteFor(config: GitConfig): MutationSite {
    return { ...this.#site, tree: this.tree, refs: this.#refs, config };
  }
}

/** Throws what was thrown before a turn of the queue as the queue would. */
function asStorageError(error: unknown): never {
  throw storageError(error, 'change the memory');
}
