import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { dayOf } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';
import type { CommitInfo } from '../../core/history.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import type { Repository } from '../../git/commit/repository.ts';
import type { Disk } from '../../git/disk/disk.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { commitInfo } from '../records/message.ts';
import { ChangeIndex, type IndexProgress } from './change-index.ts';
import { CommitMakers } from './commit-makers.ts';
import { folderAt } from './last-change.ts';
import { PastRecords } from './past-records.ts';
import { resolveRevision } from './revision.ts';

/** Limit of commits whose records stay in memory. */
const maxStates = 4;

/** The history of one memory folder, shared by all calls. */
export class Archive {
  readonly memory: MemoryFolder;
  readonly #disk: Disk;
  readonly #now: () => Date;
  readonly makers = new CommitMakers(this);
  readonly #states = new Map<string, PastRecords>();
  #index:
    | { readonly repository: Repository; readonly shallow: string; readonly index: ChangeIndex }
    | undefined;

  constructor(memory: MemoryFolder, disk: Disk, now: () => Date) {
    this.memory = memory;
    this.#disk = disk;
    this.#now = now;
  }

  /** @throws MemoryError `not_found` if there is no repository, and so no history. */
  get repository(): Repository {
    const repository = this.memory.repository();
    if (repository) return repository;
    throw new MemoryError('not_found', 'There is no repository here, and so no history yet.', {
      hint: 'The first change of the memory creates one.',
    });
  }

  /** The type of the record at a path; undefined for a file that is not a record. */
  typeOf(path: string): AnyRecordType | undefined {
    return /(?:^|\/)\./.test(path) ? undefined : this.memory.view.typeOf(path);
  }

  /** The index with everything that is reachable from a commit, and the commit's number in it. */
  async index(
    head: Oid,
    progress: IndexProgress,
  ): Promise<{ readonly index: ChangeIndex; readonly number: number }> {
    const index = this.#current();
    return { index, number: await index.update(head, progress) };
  }

  #current(): ChangeIndex {
    const { repository } = this;
    const file = join(repository.tree.commonDir, 'shallow');
    const shallow = this.#disk.files.read(file)?.toString('latin1') ?? '';
    const known = this.#index;
    if (known?.repository === repository && known.shallow === shallow) return known.index;
    const folder = this.memory.inTree('');
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

  commit(oid: Oid): CommitInfo {
    return commitInfo(oid, parseCommit(this.repository.odb.content(oid, 'commit')));
  }

  /** The tree of the memory folder in a commit; undefined without one. */
  tree(commit: Oid): Oid | undefined {
    return folderAt(this.repository.odb, commit, this.memory.inTree(''));
  }

  /** The records of a commit. */
  records(commit: Oid): PastRecords {
    const { odb } = this.repository;
    const tree = this.tree(commit);
    const key = tree ?? '';
    const records = this.#states.get(key) ?? new PastRecords(odb, tree, this.memory.types);
    this.#states.delete(key);
    this.#states.set(key, records);
    const [oldest] = this.#states.keys();
    if (oldest !== undefined && this.#states.size > maxStates) this.#states.delete(oldest);
    return records;
  }

  /** The present day in UTC: `2026-01-31`. */
  today(): string {
    return dayOf(this.#now());
  }

  /** @throws MemoryError as `resolveRevision`. */
  resolve(revision: string, progress: IndexProgress): Promise<Oid> {
    const { refs, odb } = this.repository;
    const before = (head: Oid, time: number) => this.#before(head, time, progress);
    return resolveRevision(revision, { refs, odb, now: this.#now, before });
  }

  async #before(head: Oid, time: number, progress: IndexProgress): Promise<Oid> {
    const { index, number } = await this.index(head, progress);
    for (let at: number | undefined = number; at !== undefined; ) {
      const { oid, parents, time: committed } = index.commit(at);
      if (committed <= time) return oid;
      if (index.isCut(at)) {
        throw new MemoryError('not_found', 'The clone is shallow: its history begins later.', {
          hint: 'Run "git fetch --unshallow".',
        });
      }
      [at] = parents;
    }
    const when = new Date(time * 1000).toISOString();
    throw new MemoryError('not_found', `The branch has no commit before ${when}.`, {
      hint: 'Give a later time.',
    });
  }
}
