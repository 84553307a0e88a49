import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../core/error.ts';
import { GitConfig } from './config.ts';
import type { WorkTree } from './discover.ts';
import { type Disk, storageError } from './disk.ts';
import { errno } from './files.ts';
import { identity } from './identity.ts';
import { IgnoreRules } from './ignore.ts';
import { initRepository } from './init.ts';
import { ProcessLock } from './lock.ts';
import { applyPlan, type Ground, indexKey, type KnownIndex, readIndex } from './mutation.ts';
import type { Oid } from './object.ts';
import { ObjectDatabase } from './odb.ts';
import { type Adoption, type FileChange, type Plan, planCommits, type Signatures } from './plan.ts';
import { recover } from './recovery.ts';
import { reflogsOf } from './reflog.ts';
import { type Head, Refs } from './refs.ts';
import { planSquash, type Squash } from './squash.ts';
import { checkFormat, checkIdle, checkMerged } from './state.ts';
import type { Token } from './token.ts';

/** What a caller wants committed. */
export interface Proposal {
  readonly changes: readonly FileChange[];
  /** The whole message of the commit, subject first. */
  readonly message: string;
  readonly adopt?: Adoption;
}

/** The plan of a mutation, made from HEAD and the index; undefined where these have moved under it. */
type Planner = (head: Head, known: KnownIndex, signatures: Signatures) => Plan | undefined;

/** A commit that was made. */
export interface Made {
  readonly oid: Oid;
  /** Full name of the branch that holds it; undefined on a detached HEAD. */
  readonly ref: string | undefined;
}

export interface RepositoryOptions {
  /** Where git's own variables and HOME are looked up. */
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => Date;
  /** How long to wait for a lock of others, in milliseconds. */
  readonly lockTimeout: number;
  /**
   * For how long the index must have been left alone by others before we commit, in milliseconds: a
   * plain `git commit` that has hooks to run holds no lock meanwhile and would fail if HEAD moved.
   */
  readonly calm: number;
  warn(message: string): void;
}

/** How often a proposal is worked out anew because the ground moved under it. */
const maxAttempts = 50;
/** How long to wait before a file is read again that another program is writing, in milliseconds. */
const pause = 20;
/** Longer than any key of an index, so that one is written over the other. */
const markLength = 80;
/** The longest that a busy index is waited for, as a multiple of `calm`. */
const calmLimit = 5;

/**
 * Somebody else's repository, in which we are a guest: reading it, and committing single files to it
 * without touching anything else.
 */
export class Repository {
  readonly tree: WorkTree;
  readonly odb: ObjectDatabase;
  readonly refs: Refs;
  readonly #disk: Disk;
  readonly #options: RepositoryOptions;
  readonly #folder: string;
  #lock: ProcessLock | undefined;
  #config:
    | {
        readonly branch: string | undefined;
        readonly config: GitConfig;
        readonly rules: IgnoreRules;
      }
    | undefined;
  #index: KnownIndex | undefined;
  /** Whether this process holds the process lock. */
  #working = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(disk: Disk, tree: WorkTree, options: RepositoryOptions) {
    this.tree = tree;
    this.#disk = disk;
    this.#options = options;
    this.#folder = join(tree.commonDir, 'memory-bank');
    this.odb = new ObjectDatabase(disk, tree.commonDir);
    this.refs = new Refs(disk.files, tree.gitDir, tree.commonDir);
  }

  head(): Head {
    return this.refs.head();
  }

  /** The user's configuration as it is now. */
  config(): GitConfig {
    const branch = this.refs.branch()?.replace(/^refs\/heads\//, '');
    const known = this.#config;
    if (known?.branch === branch && known?.config.isCurrent(this.#disk.files)) return known.config;
    const { gitDir, commonDir } = this.tree;
    const places = { gitDir, commonDir, branch, env: this.#options.env };
    const config = GitConfig.read(this.#disk.files, places);
    const rules = new IgnoreRules(this.#disk.files, this.tree, config, this.#options.env);
    this.#config = { branch, config, rules };
    return config;
  }

  /** Where files that belong to us and to no branch may lie: caches, session state. */
  get folder(): string {
    return this.#folder;
  }

  /**
   * Finishes or undoes the mutation of a process that died in the middle of one, so that its half is
   * not read as the truth. Creates nothing.
   */
  async repair(): Promise<void> {
    // While a mutation of ours is at work, what is left here belongs to it.
    if (this.#working) return;
    const left = [...this.#processLock().leftovers().values()].flat();
    // A dead process's own lock is in nobody's way before the next mutation.
    if (left.every((name) => /^(owner|break)-/.test(name))) return;
    await this.#exclusively(undefined, async () => undefined);
  }

  /** Makes the repository that is not there yet. */
  initialize(): Promise<void> {
    const { gitDir } = this.tree;
    const { env } = this.#options;
    return this.#exclusively(undefined, (token) =>
      initRepository(this.#disk, gitDir, this.#folder, env, token, this.#patience(undefined)),
    );
  }

  /**
   * One mutation, one commit.
   *
   * @param propose works out the changes from what is on disk now; called with all other servers of
   *   this repository locked out, and again when the ground moved. Undefined: nothing to commit.
   * @throws MemoryError after which nothing has changed.
   */
  commit(
    propose: () => Promise<Proposal | undefined>,
    signal?: AbortSignal,
  ): Promise<Made | undefined> {
    return this.#mutate(async () => {
      const proposal = await propose();
      if (!proposal || proposal.changes.length === 0) return undefined;
      const { changes, message, adopt } = proposal;
      return (head, known, signatures) => {
        this.#checkIgnored(proposal, known);
        return planCommits(this.odb, head, known.file, changes, message, signatures, adopt);
      };
    }, signal);
  }

  /**
   * Puts one commit in the place of the last ones; files and index stay as they are.
   *
   * @param propose works out which, as in `commit`.
   * @throws MemoryError after which nothing has changed; `unsupported` where no reflog would hold the
   *   commits that were replaced.
   */
  squash(
    propose: () => Promise<Squash | undefined>,
    signal?: AbortSignal,
  ): Promise<Made | undefined> {
    return this.#mutate(async () => {
      const squash = await propose();
      if (!squash) return undefined;
      this.#checkReflog();
      return (head, _, { committer }) => planSquash(this.odb, head, squash, committer);
    }, signal);
  }

  /**
   * Refuses a repository in which nobody may commit now, or no program like this one ever.
   *
   * @throws MemoryError `busy`, `unsupported`.
   */
  checkWritable(): void {
    checkFormat(this.config(), this.tree);
    checkIdle(this.#disk.files, this.tree.gitDir);
  }

  close(): void {
    this.odb.close();
  }

  #mutate(
    prepare: () => Promise<Planner | undefined>,
    signal: AbortSignal | undefined,
  ): Promise<Made | undefined> {
    return this.#exclusively(signal, async (token) => {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        this.checkWritable();
        await this.#calm(signal);
        const ground = this.#ground(this.config());
        // Before the files: what a checkout does to them meanwhile shows in the index.
        const known = readIndex(ground, this.#index);
        this.#index = known;
        let planner: Planner | undefined;
        try {
          planner = await prepare();
        } catch (error) {
          if (attempt === maxAttempts - 1 || !isDamage(error) || !isMoving(ground, known))
            throw error;
          await sleep(pause, undefined, signal ? { signal } : {}).catch(() => undefined);
          continue;
        }
        if (!planner) return undefined;
        if (signal?.aborted) throw cancelled();
        const made = await this.#attempt(ground, known, planner, token, signal);
        if (made) return made;
      }
      throw new MemoryError('busy', 'This repository changes too fast to commit to it.', {
        hint: 'Nothing was changed. Try again.',
      });
    });
  }

  async #attempt(
    ground: Ground,
    known: KnownIndex,
    planner: Planner,
    token: Token,
    signal: AbortSignal | undefined,
  ): Promise<Made | undefined> {
    const head = this.head();
    const { config } = ground;
    checkMerged(known.file);
    const time = this.#options.now();
    const author = identity(config, 'author', time);
    const committer = identity(config, 'committer', time);
    const plan = planner(head, known, { author, committer });
    if (!plan) return undefined;
    await this.odb.write(plan.objects);
    const patience = this.#patience(signal);
    const applied = await applyPlan(ground, plan, known, committer, token, patience);
    if (!applied) return undefined;
    this.#index = applied.index;
    if (applied.index?.key) this.#markIndex(applied.index.key);
    return { oid: applied.commit, ref: applied.ref };
  }

  /** A path that is tracked already may be ignored, as in git; a new one may not. */
  #checkIgnored(proposal: Proposal, index: KnownIndex): void {
    const added = proposal.changes.filter((one) => one.bytes && !index.file.find(one.path));
    this.#config?.rules.check(added.map(({ path }) => path));
  }

  #checkReflog(): void {
    const { commonDir } = this.tree;
    const { ref } = this.head();
    if (reflogsOf(this.#disk, commonDir, this.config(), this.refs, ref).length > 0) return;
    throw new MemoryError(
      'unsupported',
      'This repository keeps no reflog (core.logAllRefUpdates).',
      {
        hint: 'Without one, nothing would hold the old commits: "git config core.logAllRefUpdates true".',
      },
    );
  }

  /** Runs an action alone among the servers of this repository, after cleaning up behind dead ones. */
  #exclusively<T>(
    signal: AbortSignal | undefined,
    action: (token: Token) => Promise<T>,
  ): Promise<T> {
    const run = async () => {
      try {
        const changed = this.#disk.makeDirectories(this.#folder);
        await this.#disk.settle(changed);
        const lock = this.#processLock();
        const token = await lock.take(this.#patience(signal));
        this.#working = true;
        try {
          await this.#cleanUp(lock, token);
          return await action(token);
        } finally {
          this.#working = false;
          lock.release(token);
        }
      } catch (error) {
        throw storageError(error, 'change the memory');
      }
    };
    const result = this.#queue.then(run, run);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  #processLock(): ProcessLock {
    this.#lock ??= new ProcessLock(this.#disk, this.#folder);
    return this.#lock;
  }

  async #cleanUp(lock: ProcessLock, token: Token): Promise<void> {
    for (const [id, names] of lock.leftovers()) {
      const { commonDir } = this.tree;
      const site = { disk: this.#disk, odb: this.odb, commonDir, folder: this.#folder };
      await recover(site, token, id, names);
    }
  }

  /** Tells all servers of this repository that the index as it is now is one of ours. */
  #markIndex(key: string): void {
    if (this.#options.calm === 0) return;
    const { files } = this.#disk;
    try {
      const fd = files.open(this.#mark, files.lstat(this.#mark) ? 'r+' : 'wx');
      try {
        files.write(fd, [Buffer.from(`${key.padEnd(markLength)}\n`, 'latin1')]);
      } finally {
        files.close(fd);
      }
    } catch (error) {
      // Without the mark the next mutation waits in vain, and that is all.
      if (errno(error) === undefined) throw error;
    }
  }

  #markedIndex(): string | undefined {
    return this.#disk.files.read(this.#mark)?.toString('latin1').trimEnd();
  }

  get #mark(): string {
    return join(this.#folder, 'index-mark');
  }

  /** Waits until nobody else has touched the index for a moment. */
  async #calm(signal: AbortSignal | undefined): Promise<void> {
    const { calm } = this.#options;
    const path = join(this.tree.gitDir, 'index');
    for (let waited = 0; waited < calm * calmLimit; ) {
      if (indexKey({ disk: this.#disk, tree: this.tree }) === this.#markedIndex()) return;
      const changed = this.#disk.files.lstat(path)?.mtimeMs ?? 0;
      const rest = calm - Math.abs(Date.now() - changed);
      if (rest <= 0) return;
      await sleep(rest, undefined, signal ? { signal } : {}).catch(() => {
        throw cancelled();
      });
      waited += rest;
    }
  }

  #ground(config: GitConfig): Ground {
    return {
      disk: this.#disk,
      odb: this.odb,
      commonDir: this.tree.commonDir,
      folder: this.#folder,
      tree: this.tree,
      refs: this.refs,
      config,
      warn: this.#options.warn,
    };
  }

  #patience(signal: AbortSignal | undefined) {
    const limit = this.#options.lockTimeout;
    return signal ? { limit, signal } : { limit };
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof MemoryError && error.code === 'damaged';
}

/** Whether another program is changing files and index just now, or has since they were read. */
function isMoving(ground: Ground, known: KnownIndex): boolean {
  const lock = join(ground.tree.gitDir, 'index.lock');
  return indexKey(ground) !== known.key || ground.disk.files.lstat(lock) !== undefined;
}

function cancelled(): MemoryError {
  return new MemoryError('cancelled', 'The call was cancelled; nothing was changed.');
}
