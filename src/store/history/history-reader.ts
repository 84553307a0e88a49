import type { CommitInfo } from '../../core/memory/commit-log.ts';
import { parseAddress, type RecordAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { Head } from '../../git/refs/refs.ts';
import type { Access } from '../modes/access.ts';
import type { CallRights } from '../records/call-rights.ts';
import { commitInfo } from '../records/message.ts';
import type { RecordFile } from '../records/record-file.ts';
import { forbidden } from '../records/record-reader.ts';
import { type PathChange, pathChanges } from './change-index.ts';
import { ancestors } from './lineage.ts';
import type { MemoryHistory } from './memory-history.ts';
import type { IndexedCommit } from './repository-history.ts';
import { Versions } from './versions.ts';

/** Reads the history for one call, under the rules of its mode. */
export class HistoryReader {
  readonly history: MemoryHistory;
  readonly rights: CallRights;
  readonly access: Access;
  readonly versions: Versions;
  readonly #repository: Repository;
  readonly #isRefreshed: boolean;
  #head: Head | undefined;
  #codeHead: Head | undefined;

  /** @param isRefreshed whether the call has brought the records in line with the disk. */
  constructor(history: MemoryHistory, rights: CallRights, access: Access, isRefreshed = false) {
    this.history = history;
    this.#repository = history.repository;
    this.versions = new Versions(this.#repository.odb, (path) => history.typeOf(path));
    this.rights = rights;
    this.access = access;
    this.#isRefreshed = isRefreshed;
  }

  /** The record file at a path as it is now, or as the refresh of this call has found it. */
  record(path: string): RecordFile | undefined {
    const { view } = this.history.memory;
    return (this.#isRefreshed ? view.lastRead(path) : undefined) ?? view.read(path);
  }

  /** Whether a path is that of a record that the session's mode may read. */
  mayRead(path: string): boolean {
    return this.history.typeOf(path) !== undefined && this.access.mayRead(path);
  }

  /** @throws MemoryError `forbidden`. */
  checkRead(path: string): void {
    if (!this.access.mayRead(path)) throw forbidden('read', path, this.access);
  }

  resolve(revision: string): Promise<Oid> {
    return this.history.resolve(revision, this.rights);
  }

  indexedCommit(commit: Oid): Promise<IndexedCommit> {
    return this.history.indexedCommit(commit, this.rights);
  }

  /** Marks the numbers of the commits that a revision has, which a history since then leaves out. */
  async upTo(revision: string | undefined): Promise<readonly (true | undefined)[]> {
    const commit = revision && (await this.history.since(revision, this.rights));
    if (!commit) return [];
    const { index, number } = await this.indexedCommit(commit);
    return ancestors(index, number);
  }

  /** The commit that the memory is at, the same for all of the call; undefined before the first one. */
  get head(): Oid | undefined {
    this.#head ??= this.#repository.head();
    return this.#head.oid;
  }

  /** The same of the code. */
  get codeHead(): Oid | undefined {
    if (!this.history.memory.isApart) return this.head;
    this.#codeHead ??= this.history.code.repository.head();
    return this.#codeHead.oid;
  }

  /** A commit of the code. */
  indexedCodeCommit(commit: Oid): Promise<IndexedCommit> {
    return this.history.code.indexedCommit(commit, this.rights);
  }

  /** The description of a commit of the code. */
  async describeCode(oid: Oid): Promise<CommitInfo> {
    const { history } = this;
    if (!history.memory.isApart) return this.describe(oid);
    return commitInfo(oid, parseCommit(history.code.repository.odb.content(oid, 'commit')));
  }

  /**
   * The description of a commit, without the parts about records that the mode hides.
   *
   * @param of the record that it is looked at for; see `commitInfo`.
   */
  async describe(oid: Oid, of?: RecordAddress): Promise<CommitInfo> {
    const info = this.history.commit(oid, of);
    if (this.access.mode === undefined) return info;
    const { index, number } = await this.indexedCommit(oid);
    const { changes, confirms } = index.commit(number);
    const hidden = [
      ...changes.flatMap((_, parent) => index.changes(number, parent)),
      ...confirms.map(({ address }) => parseAddress(address)),
    ].some(({ path }) => this.history.typeOf(path) && !this.access.mayRead(path));
    if (!hidden) return info;
    const { reason: _, ...rest } = info;
    return { ...rest, subject: '(about records that the mode may not read)' };
  }

  /** The records below a path that differ between two commits, sorted by path. */
  changes(before: Oid, after: Oid, below: string | undefined): PathChange[] {
    const [old, now] = [before, after].map((commit) => this.history.tree(commit));
    return pathChanges(this.history.repository.odb, old, now).filter(
      ({ path }) => isBelow(path, below) && this.mayRead(path),
    );
  }
}

/** Returns whether a path is a folder or below it; every path is below undefined. */
export function isBelow(path: string, below: string | undefined): boolean {
  return below === undefined || path === below || path.startsWith(`${below}/`);
}

/**
 * Normalises a path: removes a leading `.memory-bank/`, and `/` or `/**` after a folder.
 *
 * Undefined is the whole memory.
 *
 * @throws MemoryError `invalid_input` for a path that leads out of the memory folder.
 */
export function memoryPath(path: string | undefined): string | undefined {
  const text = (path ?? '')
    .replace(/^(?:\.\/)?(?:\.memory-bank(?:\/|$))?/, '')
    .replace(/\/(?:\*\*)?$/, '');
  if (text === '' || text === '.') return undefined;
  const unsafe = text.split('/').some((part) => ['', '.', '..', '.git'].includes(part));
  if (!unsafe && !/[\0\\]/.test(text)) return text;
  throw new MemoryError('invalid_input', `${JSON.stringify(path)} is not a path in the memory.`, {
    hint: 'Give it relative to .memory-bank/, as search results do.',
  });
}

/**
 * Normalises a required path.
 *
 * @throws MemoryError `invalid_input` without a path, or for one that leads out of the memory folder.
 */
export function recordPath(path: string): string {
  const found = memoryPath(path);
  if (found !== undefined) return found;
  throw new MemoryError('invalid_input', 'The path of a record is needed.', {
    hint: 'Give it relative to .memory-bank/, as search results do.',
  });
}

/** The error for a record that a commit does not have. */
export function noRecord(path: string, commit: Oid): MemoryError {
  return new MemoryError('not_found', `Commit ${commit.slice(0, 12)} has no record ${path}.`, {
    hint: 'record_history lists the commits that have it.',
    data: { path, commit },
  });
}
