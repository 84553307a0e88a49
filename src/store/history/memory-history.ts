import { dayOf } from '../../core/declarations/context.ts';
import type { CommitInfo } from '../../core/memory/commit-log.ts';
import type { RecordAddress } from '../../core/names/record-address.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Repository } from '../../git/commit/repository.ts';
import type { Disk } from '../../git/disk/disk.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { TreeFolder } from '../../git/objects/tree-folder.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { commitInfo } from '../records/message.ts';
import type { IndexProgress } from './change-index.ts';
import { CommitAuthors } from './commit-authors.ts';
import { PastRecords } from './past-records.ts';
import { type IndexedCommit, RepositoryHistory } from './repository-history.ts';
import { shownFolder } from './shown-folder.ts';
import { TreeSearches } from './tree-searches.ts';

/** Limit of commits whose records stay in memory. */
const maxStates = 4;

/** The history of one memory folder, shared by all calls. */
export class MemoryHistory {
  readonly memory: MemoryFolder;
  /** With fewer records, nothing that is read in them is saved for the next process. */
  readonly leastSaved: number;
  readonly #now: () => Date;
  readonly authors = new CommitAuthors(this);
  readonly #states = new Map<string, PastRecords>();
  readonly #searches: TreeSearches;
  readonly #commits: RepositoryHistory;
  /** The commits of the code; the same as those of the memory, unless the memory is apart. */
  readonly code: RepositoryHistory;

  /** @param leastSaved see `TreeSearches`. */
  constructor(memory: MemoryFolder, disk: Disk, now: () => Date, leastSaved: number) {
    this.memory = memory;
    this.leastSaved = leastSaved;
    this.#now = now;
    this.#searches = new TreeSearches(memory, leastSaved);
    const own = { repository: () => this.repository, folder: () => memory.inTree('') };
    this.#commits = new RepositoryHistory(own, disk, now);
    const code = { repository: () => this.#codeRepository(), folder: () => memory.folderInCode };
    this.code = memory.isApart ? new RepositoryHistory(code, disk, now) : this.#commits;
  }

  /** @throws MemoryError `not_found` if there is no repository, and so no history. */
  get repository(): Repository {
    const repository = this.memory.repository();
    if (repository) return repository;
    throw new MemoryError('not_found', 'There is no repository here, and so no history yet.', {
      hint: 'The first change of the memory creates one.',
    });
  }

  #codeRepository(): Repository {
    const repository = this.memory.code();
    if (repository) return repository;
    throw new MemoryError('not_found', `The project ${this.memory.root} is not in a repository.`, {
      hint: 'Run "git init" there.',
    });
  }

  /** The type of the record at a path; undefined for a file that is not a record. */
  typeOf(path: string): AnyRecordType | undefined {
    return /(?:^|\/)\./.test(path) ? undefined : this.memory.view.typeOf(path);
  }

  /** The index with everything that is reachable from a commit, and the commit's number in it. */
  indexedCommit(head: Oid, progress: IndexProgress): Promise<IndexedCommit> {
    return this.#commits.indexedCommit(head, progress);
  }

  /** The same, if the index is in memory and has the commit. */
  known(commit: Oid): IndexedCommit | undefined {
    return this.#commits.known(commit);
  }

  /** Whether a shallow clone ends at a commit. */
  endsAt(commit: Oid): boolean {
    return this.#commits.endsAt(commit);
  }

  /** @param of the record that it is looked at for; see `commitInfo`. */
  commit(oid: Oid, of?: RecordAddress): CommitInfo {
    return commitInfo(oid, parseCommit(this.repository.odb.content(oid, 'commit')), of);
  }

  /** The tree of the memory folder in a commit; undefined without one. */
  tree(commit: Oid): Oid | undefined {
    return shownFolder(this.repository.odb, commit, this.memory.inTree(''));
  }

  /** The blob of a record in a commit; undefined if the commit does not have the record. */
  blob(commit: Oid, path: string): Oid | undefined {
    return new TreeFolder(this.repository.odb, this.tree(commit)).oid(path);
  }

  /** The records of a commit. */
  records(commit: Oid): PastRecords {
    const tree = this.tree(commit);
    const key = tree ?? '';
    const records = this.#states.get(key) ?? this.open(tree);
    this.#states.delete(key);
    this.#states.set(key, records);
    const [oldest] = this.#states.keys();
    if (oldest !== undefined && this.#states.size > maxStates) this.#states.delete(oldest);
    return records;
  }

  /** Opens the records of a tree; undefined for a memory folder that a commit does not have. */
  open(tree: Oid | undefined): PastRecords {
    return new PastRecords(this.repository.odb, tree, this.memory.types, this.#searches);
  }

  /** Saves what searches of trees have indexed, and stops them. */
  close(): Promise<void> {
    return this.#searches.close();
  }

  /** The present day in UTC: `2026-01-31`. */
  today(): string {
    return dayOf(this.#now());
  }

  /** @throws MemoryError as `resolveRevision`. */
  resolve(revision: string, progress: IndexProgress): Promise<Oid> {
    return this.#commits.resolve(revision, progress);
  }

  /** The commit since which a revision means, as `RepositoryHistory.since`. */
  since(revision: string, progress: IndexProgress): Promise<Oid | undefined> {
    return this.#commits.since(revision, progress);
  }
}
