import { dirname, join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { throughLink } from '../disk/file-layer.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { RepositoryQueue } from '../locks/queue.ts';
import type { ProcessToken } from '../locks/token.ts';
import { type EncodedObject, formatCommit, type Oid } from '../objects/object.ts';
import { treeOf } from '../objects/odb.ts';
import { identity } from '../refs/identity.ts';
import { maxConfigSize } from '../repository/config.ts';
import { type ConfigSection, inBytes, replaceSection } from '../repository/config-edit.ts';
import { moveRef, type RefMove } from './move-ref.ts';
import type { MutationSite } from './mutation.ts';
import { type RefSwap, swapOwnRef } from './own-ref.ts';
import type { RepositorySite } from './recovery.ts';
import { addWorkTree, type NewWorkTree, removeWorkTree } from './work-tree.ts';

/** The parts of a repository that direct changes need. */
export interface DirectSite {
  now(): Date;
  /** @throws MemoryError `unsupported` for an unknown format. */
  site(): MutationSite;
}

/** The changes of a repository that touch neither its index nor its work tree, one at a time. */
export class DirectChanges {
  readonly #queue: RepositoryQueue;
  readonly #disk: Disk;
  readonly #site: DirectSite;

  constructor(queue: RepositoryQueue, disk: Disk, site: DirectSite) {
    [this.#queue, this.#disk, this.#site] = [queue, disk, site];
  }

  /** Creates or moves a ref that is not checked out; see `moveRef`. */
  moveRef(ref: string, move: RefMove): Promise<void> {
    return this.#queue.take(undefined, async (token, wait) => {
      const site = this.#site.site();
      const committer = identity(site.config, 'committer', this.#site.now());
      await moveRef(site, ref, move, committer, token, wait);
    });
  }

  /**
   * Merges a commit into a branch whose files stay as they are, also where it is checked out.
   *
   * @param ref of the branch, which exists.
   * @throws MemoryError `not_found` for a branch that has ended meanwhile.
   */
  absorb(ref: string, commit: Oid, message: string, signal?: AbortSignal): Promise<void> {
    return this.#queue.take(signal, async (token, wait) => {
      const site = this.#site.site();
      const tip = site.refs.resolve(ref);
      if (tip === undefined) {
        throw new MemoryError('not_found', `The branch ${ref} has ended meanwhile.`, {
          hint: 'Nothing was changed.',
          data: { ref },
        });
      }
      const now = this.#site.now();
      const committer = identity(site.config, 'committer', now);
      const merge = site.odb.encode(
        'commit',
        formatCommit({
          tree: treeOf(site.odb, tip),
          parents: [tip, commit],
          author: identity(site.config, 'author', now),
          committer,
          message,
        }),
      );
      await this.#store([merge]);
      const move = { to: merge.oid, from: tip, log: 'memory-bank (merge)' };
      await moveRef(site, ref, move, committer, token, wait);
    });
  }

  /** Changes a section of the repository's configuration; see `changeConfig`. */
  changeConfig(section: ConfigSection): Promise<void> {
    return this.#queue.take(undefined, (token, wait) =>
      changeConfig(this.#site.site(), section, token, wait),
    );
  }

  /** Stores objects that no ref reaches yet; git removes them after some weeks if none ever does. */
  store(objects: readonly EncodedObject[]): Promise<void> {
    return this.#queue.take(undefined, () => this.#store(objects));
  }

  /** Creates a linked work tree of a branch; see `addWorkTree`. */
  addWorkTree(tree: NewWorkTree): Promise<boolean> {
    return this.#queue.take(undefined, () => addWorkTree(this.#site.site(), tree));
  }

  /** Removes a linked work tree with its files. */
  removeWorkTree(top: string): Promise<void> {
    return this.#queue.take(undefined, () => removeWorkTree(this.#site.site(), top));
  }

  /**
   * Removes a branch of ours with its linked work tree, if it has the expected commit.
   *
   * @returns false if it has another one; nothing has changed then.
   */
  removeBranch(ref: string, from: Oid, top: string): Promise<boolean> {
    return this.#queue.take(undefined, async (token, wait) => {
      const site = this.#site.site();
      if (site.refs.resolve(ref) !== from) return false;
      // The branch last: without its work tree it is complete, and is checked out again.
      await removeWorkTree(site, top);
      return swapOwnRef(site, { ref, from, to: undefined }, token, wait);
    });
  }

  /**
   * Changes one of our own refs if it still has the expected value; see `ownRefs`.
   *
   * @param objects the new value and the objects that it needs, which are stored first.
   * @returns false if it has another value.
   */
  swapOwnRef(
    swap: RefSwap,
    objects: readonly EncodedObject[] = [],
    signal?: AbortSignal,
  ): Promise<boolean> {
    return this.#queue.take(signal, async (token, wait) => {
      await this.#store(objects);
      return swapOwnRef(this.#site.site(), swap, token, wait);
    });
  }

  async #store(objects: readonly EncodedObject[]): Promise<void> {
    const { odb } = this.#site.site();
    // Git's fsck reads some files in every tree, so these are on the medium before the trees.
    const files = objects.filter(({ type }) => type === 'blob');
    const others = objects.filter(({ type }) => type !== 'blob');
    for (const some of [files, others]) {
      if (some.length > 0) await this.#disk.settle(await odb.write(some));
    }
  }
}

/**
 * Changes a section of the configuration that all work trees share, under git's lock of that file. Like
 * the other locks of a change, it is removed if this process dies.
 */
async function changeConfig(
  { disk, commonDir, folder }: RepositorySite,
  section: ConfigSection,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  const { files } = disk;
  const path = join(commonDir, 'config');
  const target = throughLink(files, path);
  const lock = await GitLock.take(disk, target, 'config', folder, token, wait);
  try {
    // Bytes that are not UTF-8 stay unchanged.
    const before = files.read(target, maxConfigSize)?.toString('latin1') ?? '';
    const after = replaceSection(before, inBytes(section));
    if (after === before) return;
    await disk.settle([folder]);
    await lock.fill([Buffer.from(after, 'latin1')], undefined, files.lstat(target)?.mode);
    lock.commit(target);
    await disk.settle([dirname(target)]);
  } finally {
    lock.release();
  }
}
