import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../../core/values/error.ts';
import { cancelled } from '../index/index-mark.ts';
import { indexKey, type KnownIndex, readIndex } from '../index/known-index.ts';
import { refSite } from '../refs/ref-change.ts';
import { writerOf } from '../refs/ref-writer.ts';
import type { Head, Refs } from '../refs/refs.ts';
import type { GitConfig } from '../repository/config.ts';
import type { WorkTree } from '../repository/discover.ts';
import type { Proposal } from './commit-plan.ts';
import type { CommitWaits, Seen } from './commit-waits.ts';
import {
  type Applied,
  applyPlan,
  holdsStill,
  type MutationSite,
  type Prepared,
  type Turn,
} from './mutation.ts';
import { endLocks, type Locks, openLocks } from './mutation-locks.ts';
import { type PlanSite, prepare } from './prepare.ts';
import type { RepositorySite } from './recovery.ts';
import type { RepositoryOptions } from './repository-options.ts';
import type { Rewrite } from './rewrite-plan.ts';

/**
 * Plans a change from the files on disk, or a rewrite of the commits at HEAD; undefined if there is
 * nothing to commit.
 */
export type Propose = (head: Head) => Promise<Proposal | Rewrite | undefined>;

/** Plans several changes, each from the files as the one before leaves them. */
export type ProposeAll = (head: Head) => Promise<readonly Proposal[] | Rewrite>;

/** Retries of a proposal when HEAD, the index or a file has changed. */
const maxAttempts = 50;
/** After this number of lost races, the change is planned under the locks, for which git does not wait. */
const freeAttempts = 15;
/** Pause before a file that another program is writing is read again, in milliseconds. */
const pause = 20;

/** The parts of a repository that the attempts need. */
interface AttemptSite extends RepositorySite {
  readonly tree: WorkTree;
  readonly refs: Refs;
  readonly options: RepositoryOptions;
  /** Refuses a repository to which this program cannot commit; returns its configuration. */
  checkWritable(): GitConfig;
  /** The rules of that configuration for paths. */
  pathRules(): Pick<PlanSite, 'rules' | 'conversions'>;
}

/** Plans a change and carries it out, again and again until nobody else has changed what it was planned from. */
export class CommitAttempts {
  /** The index as it was last read or written. */
  index: KnownIndex | undefined;
  readonly #site: AttemptSite;

  constructor(site: AttemptSite) {
    this.#site = site;
  }

  /**
   * Attempts a change under the process lock.
   *
   * @returns undefined as soon as a git process commits.
   * @throws MemoryError after which nothing has changed.
   */
  async run(
    propose: ProposeAll,
    waits: CommitWaits,
    signal: AbortSignal | undefined,
    held: Turn,
  ): Promise<Applied | 'nothing' | undefined> {
    const isIndexRead = () => waits.isGitCommitting;
    for (let attempt = 0; attempt < maxAttempts; ) {
      if (waits.hasGitBegun) return undefined;
      const before = await waits.wait();
      if (attempt >= freeAttempts) {
        const made = await this.#runUnderLocks(propose, signal, { ...held, isIndexRead });
        if (made) return made;
        attempt += 1;
        continue;
      }
      const prepared = await this.prepare(propose, signal, before);
      if (!prepared) return 'nothing';
      let hasToWait = false;
      const applied = await this.apply(prepared, {
        ...held,
        isIndexRead,
        // A lock for a stale plan would be for nothing, and git fails where it meets a lock.
        isCurrent: () => {
          const { isDue, seen } = waits.look();
          hasToWait = isDue;
          return !isDue && this.#holdsStill(prepared, seen);
        },
        hasGitBegun: () => {
          hasToWait = waits.isGitRunning;
          return hasToWait;
        },
      });
      if (applied) return applied;
      if (!hasToWait) attempt += 1;
    }
    throw tooFast();
  }

  /**
   * Plans and makes a change under git's locks: HEAD and the index cannot move meanwhile.
   *
   * @returns undefined when a file has changed meanwhile.
   */
  async #runUnderLocks(
    propose: ProposeAll,
    signal: AbortSignal | undefined,
    turn: Turn,
  ): Promise<Applied | 'nothing' | undefined> {
    const { disk, folder, refs, checkWritable } = this.#site;
    const site = refSite({ disk, folder, config: checkWritable() }, turn.token, turn.wait);
    const branch = refs.head().ref ?? 'HEAD';
    const locks = openLocks(this.#site, turn.token);
    try {
      const ref = writerOf(refs).open(site, branch, true);
      locks.ref = ref;
      // The proofs that the locks are ours are on the medium before the locks.
      await disk.settle([folder]);
      await locks.index.acquire(turn.wait);
      await ref.acquire();
      if ((refs.head().ref ?? 'HEAD') !== branch) return undefined;
      const prepared = await this.prepare(propose, signal, undefined, locks);
      return prepared ? await this.apply(prepared, turn, locks) : 'nothing';
    } finally {
      endLocks(locks);
    }
  }

  /**
   * Plans a change and stores its objects; undefined if there is nothing to commit.
   *
   * @param seen HEAD and the index of just now, if the caller has looked at them.
   */
  async prepare(
    propose: ProposeAll,
    signal: AbortSignal | undefined,
    seen: Seen | undefined,
    locks?: Locks,
  ): Promise<Prepared | undefined> {
    for (let attempt = 1, now = seen; ; attempt++, now = undefined) {
      const config = this.#site.checkWritable();
      const site = { ...this.#site, config };
      // Before the files: a checkout that changes them meanwhile also changes the index.
      const known = now?.known ?? this.readIndex();
      const head = now?.head ?? this.#site.refs.head();
      let proposal: readonly Proposal[] | Rewrite;
      try {
        proposal = await propose(head);
      } catch (error) {
        const moving = !locks && attempt < maxAttempts && isMoving(site, known);
        if (!isDamage(error) || !moving) throw error;
        await sleep(pause, undefined, signal ? { signal } : {}).catch(() => undefined);
        continue;
      }
      if ('length' in proposal && proposal.length === 0) return undefined;
      if (signal?.aborted) throw cancelled();
      const planSite = { ...site, ...this.#site.options, ...this.#site.pathRules() };
      return prepare(planSite, head, known, proposal, signal);
    }
  }

  /** The current index, read only if it has changed. */
  readIndex(): KnownIndex {
    this.index = readIndex(this.#site, this.index, indexKey(this.#site));
    return this.index;
  }

  #holdsStill({ plan, known, config }: Prepared, seen: Seen | undefined): boolean {
    return holdsStill({ ...this.#site, config }, plan, known, seen);
  }

  /**
   * Carries out what was prepared; undefined if it has to be planned again.
   *
   * @param held git's locks, if they are taken already.
   */
  async apply(prepared: Prepared, turn: Turn, held?: Locks): Promise<Applied | undefined> {
    const site = { ...this.#site, config: prepared.config };
    const applying = applyPlan(site, prepared, turn, held);
    // Nothing may still run when the next mutation begins.
    return applying.finally(() => prepared.stored.catch(() => undefined));
  }
}

/** A proposal as a list; an empty list if there is nothing to commit. */
export function inList(propose: Propose): ProposeAll {
  return async (head) => {
    const proposal = await propose(head);
    if (!proposal) return [];
    if ('rebuilt' in proposal) return proposal;
    return proposal.changes.length > 0 || proposal.join ? [proposal] : [];
  };
}

function isDamage(error: unknown): boolean {
  return error instanceof MemoryError && error.code === 'damaged';
}

/** Whether another program is changing the index, or has changed it since it was read. */
function isMoving(site: MutationSite, known: KnownIndex): boolean {
  const lock = join(site.tree.gitDir, 'index.lock');
  return indexKey(site) !== known.key || site.disk.files.lstat(lock) !== undefined;
}

function tooFast(): MemoryError {
  return new MemoryError(
    'busy',
    `HEAD, the index or a file changed during all ${maxAttempts} attempts to commit.`,
    {
      hint: 'Nothing was changed. Try again when no script commits, switches branches or writes files.',
    },
  );
}
