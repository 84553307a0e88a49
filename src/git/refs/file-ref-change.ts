import { dirname, join } from 'node:path';
import { type Disk, removeIfEmpty } from '../disk/disk.ts';
import { throughLink } from '../disk/file-layer.ts';
import type { GitLock } from '../locks/lock.ts';
import type { OpenRef, RefChange, RefSite } from './ref-change.ts';
import { folderOf, type RefPlaces } from './ref-places.ts';
import { appendReflogs, flushReflogs, type LoggedFiles, reflogLines, reflogsOf } from './reflog.ts';

/** A locked ref in a file of its own. */
export class HeldFileRef implements OpenRef {
  readonly locks: readonly [GitLock, ...GitLock[]];
  isPlaced = false;
  readonly #site: RefSite;
  readonly #places: RefPlaces;
  readonly #ref: string;
  readonly #path: string;
  readonly #logged: readonly string[];
  readonly #isPacked: () => boolean;
  #isRemoval = false;
  #lines: string | undefined;
  #appended: LoggedFiles = { files: [], folders: [] };

  /**
   * @param head the lock of HEAD, if that names the ref.
   * @param isPacked whether `packed-refs` has the ref as well.
   */
  constructor(
    site: RefSite,
    places: RefPlaces,
    ref: string,
    lock: GitLock,
    head: GitLock | undefined,
    isPacked: () => boolean,
  ) {
    [this.#site, this.#places, this.#ref, this.#isPacked] = [site, places, ref, isPacked];
    this.locks = head ? [lock, head] : [lock];
    this.#logged = head ? ['HEAD', ref] : [ref];
    this.#path = join(folderOf(places, ref), ref);
  }

  async acquire(): Promise<void> {
    const { wait } = this.#site;
    const [lock, head] = this.locks;
    try {
      await head?.acquire(wait);
      await lock.acquire(wait);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  async stage({ to, log }: RefChange): Promise<string[]> {
    const [lock] = this.locks;
    this.#isRemoval = to === undefined;
    this.#lines = log && reflogLines(log.commits, log.committer);
    if (to !== undefined) await lock.fill([Buffer.from(`${to}\n`, 'latin1')]);
    return [];
  }

  /** Others do not change a file with the value of a ref. */
  async renew(): Promise<void> {}

  async place(): Promise<void> {
    if (this.#isRemoval) return this.#remove();
    const { disk, config } = this.#site;
    const [lock] = this.locks;
    if (this.#lines !== undefined) {
      const logs = reflogsOf(disk.files, this.#places, config, this.#logged);
      this.#appended = appendReflogs(disk, this.#places.commonDir, logs, this.#lines);
    }
    try {
      lock.commit(this.#path);
    } catch (error) {
      if (disk.files.lstat(this.#path)?.kind !== 'directory') throw error;
      // Git leaves empty folders where branches below this name existed.
      removeEmptyFolders(disk, this.#path);
      lock.commit(this.#path);
    }
    this.isPlaced = true;
  }

  async #remove(): Promise<void> {
    const { disk } = this.#site;
    const isLoose = disk.files.lstat(this.#path) !== undefined;
    // The packed value first: without the file it would come back.
    await this.#removePacked();
    // The disk may no longer say so: the lock keeps others from making the file meanwhile.
    this.isPlaced = !isLoose;
    if (isLoose) disk.discard(this.#path);
    this.isPlaced = true;
  }

  async finish(folders: readonly string[]): Promise<void> {
    const [lock, ...others] = this.locks;
    for (const one of others) one.release();
    const { gitDir, commonDir } = this.#places;
    const more = this.#isRemoval ? [commonDir] : others.length > 0 ? [gitDir] : [];
    const own = [...lock.changed, dirname(this.#path), ...more];
    await flushReflogs(this.#site.disk, this.#appended, [...folders, ...own]);
  }

  release(): void {
    for (const lock of this.locks) lock.release();
  }

  discard(): void {
    this.release();
  }

  leave(): void {
    for (const lock of this.locks) lock.leave();
  }

  /** Removes the line of the ref from `packed-refs` (git-pack-refs). */
  async #removePacked(): Promise<void> {
    if (!this.#isPacked()) return;
    const { disk, folder, take } = this.#site;
    const path = throughLink(disk.files, join(this.#places.commonDir, 'packed-refs'));
    const lock = await take(path, 'packed');
    try {
      await disk.settle([folder]);
      const text = disk.files.read(path)?.toString('latin1') ?? '';
      const name = Buffer.from(this.#ref, 'utf8').toString('latin1');
      const lines = text.split('\n').filter((line) => line.slice(line.indexOf(' ') + 1) !== name);
      await lock.fill([Buffer.from(lines.join('\n'), 'latin1')]);
      lock.commit(path);
    } finally {
      lock.release();
    }
  }
}

function removeEmptyFolders(disk: Disk, folder: string): void {
  for (const { name, kind } of disk.files.list(folder) ?? []) {
    if (kind === 'directory') removeEmptyFolders(disk, join(folder, name));
  }
  removeIfEmpty(disk, folder);
}
