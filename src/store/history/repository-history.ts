import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Repository } from '../../git/commit/repository.ts';
import type { Disk } from '../../git/disk/disk.ts';
import type { Oid } from '../../git/objects/object.ts';
import { ChangeIndex, type IndexProgress } from './change-index.ts';
import { resolveRevision } from './revision.ts';

/** A commit in the index. */
export interface IndexedCommit {
  readonly index: ChangeIndex;
  readonly number: number;
}

/** The repository whose commits are indexed. */
export interface IndexedRepository {
  /** @throws MemoryError `not_found` if there is none. */
  repository(): Repository;
  /** The folder whose changes are indexed, relative to the top of the work tree. */
  folder(): string;
}

/** The commits of a repository by their names, and the index of their changes of one folder. */
export class RepositoryHistory {
  readonly #site: IndexedRepository;
  readonly #disk: Disk;
  readonly #now: () => Date;
  #index:
    | { readonly repository: Repository; readonly shallow: string; readonly index: ChangeIndex }
    | undefined;

  constructor(site: IndexedRepository, disk: Disk, now: () => Date) {
    [this.#site, this.#disk, this.#now] = [site, disk, now];
  }

  get repository(): Repository {
    return this.#site.repository();
  }

  /** The index with everything that is reachable from a commit, and the commit's number in it. */
  async indexedCommit(commit: Oid, progress: IndexProgress): Promise<IndexedCommit> {
    const index = this.#current();
    return { index, number: await index.update(commit, progress) };
  }

  /** The same, if the index is in memory and has the commit. */
  known(commit: Oid): IndexedCommit | undefined {
    const index = this.#current();
    const number = index.numberOf(commit);
    return number === undefined ? undefined : { index, number };
  }

  /** Whether a shallow clone ends at a commit. */
  endsAt(commit: Oid): boolean {
    return this.#current().endsAt(commit);
  }

  #current(): ChangeIndex {
    const { repository } = this;
    const file = join(repository.tree.commonDir, 'shallow');
    const shallow = this.#disk.files.read(file)?.toString('latin1') ?? '';
    const known = this.#index;
    if (known?.repository === repository && known.shallow === shallow) return known.index;
    const folder = this.#site.folder();
    const name = createHash('sha1').update(folder).digest('hex').slice(0, 12);
    const index = new ChangeIndex(
      this.#disk,
      repository.odb,
      join(repository.folder, `history-${name}.jsonl`),
      folder,
      new Set(shallow.split('\n').filter((line) => line)),
    );
    this.#index = { repository, shallow, index };
    return index;
  }

  /** @throws MemoryError as `resolveRevision`. */
  resolve(revision: string, progress: IndexProgress): Promise<Oid> {
    const { refs, odb } = this.repository;
    const before = async (head: Oid, time: number) => {
      const { oid, isFirst } = await this.#upTo(head, time, progress);
      if (isFirst) progress.note?.(noteFirst(oid, time));
      return oid;
    };
    return resolveRevision(revision, { refs, odb, now: this.#now, before });
  }

  /**
   * The commit since which a revision means: undefined for a time before the first commit.
   *
   * @throws MemoryError as `resolveRevision`.
   */
  async since(revision: string, progress: IndexProgress): Promise<Oid | undefined> {
    const { refs, odb } = this.repository;
    let isAll = false;
    const before = async (head: Oid, time: number) => {
      const { oid, isFirst } = await this.#upTo(head, time, progress);
      isAll = isFirst;
      return oid;
    };
    const oid = await resolveRevision(revision, { refs, odb, now: this.#now, before });
    return isAll ? undefined : oid;
  }

  /**
   * The last commit on the first-parent line of a branch that is not later than a time in seconds.
   *
   * @throws MemoryError `not_found`.
   */
  async before(head: Oid, time: number, progress: IndexProgress): Promise<Oid> {
    const { oid, isFirst } = await this.#upTo(head, time, progress);
    if (!isFirst) return oid;
    throw new MemoryError('not_found', `The branch has no commit before ${whenOf(time)}.`, {
      hint: 'Give a later time.',
    });
  }

  /**
   * The last commit on the first-parent line of a branch that is not later than a time in seconds; for an
   * earlier time the first one, and that.
   *
   * @throws MemoryError `not_found` where a shallow clone ends.
   */
  async #upTo(head: Oid, time: number, progress: IndexProgress) {
    const { index, number } = await this.indexedCommit(head, progress);
    let first = head;
    for (let at: number | undefined = number; at !== undefined; ) {
      const { oid, parents, time: committed } = index.commit(at);
      if (committed <= time) return { oid, isFirst: false };
      first = oid;
      if (index.isCut(at)) {
        throw new MemoryError('not_found', 'The clone is shallow: its history begins later.', {
          hint: 'Run "git fetch --unshallow".',
        });
      }
      [at] = parents;
    }
    return { oid: first, isFirst: true };
  }
}

function noteFirst(oid: Oid, time: number): string {
  return `The branch has no commit before ${whenOf(time)}, so its first one is meant: ${oid.slice(0, 12)}.`;
}

function whenOf(time: number): string {
  return new Date(time * 1000).toISOString();
}
