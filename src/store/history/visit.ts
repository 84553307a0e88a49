import { MemoryError } from '../../core/error.ts';
import type { CommitInfo } from '../../core/history.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { Access } from '../modes/access.ts';
import type { Permit } from '../records/permit.ts';
import { forbidden } from '../records/transaction.ts';
import type { Archive } from './archive.ts';
import { type ChangeIndex, type PathChange, pathChanges } from './change-index.ts';
import { Versions } from './versions.ts';

/** A commit in the index. */
export interface IndexedCommit {
  readonly index: ChangeIndex;
  readonly number: number;
}

/** The archive as one call may use it. */
export class Visit {
  readonly archive: Archive;
  readonly permit: Permit;
  readonly access: Access;
  readonly versions: Versions;

  constructor(archive: Archive, permit: Permit, access: Access) {
    this.archive = archive;
    this.versions = new Versions(archive.repository.odb, (path) => archive.typeOf(path));
    this.permit = permit;
    this.access = access;
  }

  /** Whether something is a record, and one that the session's mode lets it see. */
  mayRead(path: string): boolean {
    return this.archive.typeOf(path) !== undefined && this.access.mayRead(path);
  }

  /** @throws MemoryError `forbidden`. */
  checkRead(path: string): void {
    if (!this.access.mayRead(path)) throw forbidden('read', path, this.access);
  }

  resolve(revision: string): Promise<Oid> {
    return this.archive.resolve(revision, this.permit);
  }

  place(commit: Oid): Promise<IndexedCommit> {
    return this.archive.index(commit, this.permit);
  }

  /** The description of a commit, without the parts about records that the mode hides. */
  async describe(oid: Oid): Promise<CommitInfo> {
    const info = this.archive.commit(oid);
    if (this.access.mode === undefined) return info;
    const { index, number } = await this.place(oid);
    const hidden = index
      .commit(number)
      .changes.flatMap((_, parent) => index.changes(number, parent))
      .some(({ path }) => this.archive.typeOf(path) && !this.access.mayRead(path));
    if (!hidden) return info;
    const { reason: _, ...rest } = info;
    return { ...rest, subject: '(about records that the mode may not read)' };
  }

  /** The records below a path that two commits do not have in common, by path. */
  changes(before: Oid, after: Oid, below: string | undefined): PathChange[] {
    const [old, now] = [before, after].map((commit) => this.archive.tree(commit));
    return pathChanges(this.archive.repository.odb, old, now).filter(
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
  const strange = text.split('/').some((part) => ['', '.', '..', '.git'].includes(part));
  if (!strange && !/[\0\\]/.test(text)) return text;
  throw new MemoryError('invalid_input', `${JSON.stringify(path)} is not a path in the memory.`, {
    hint: 'Give it relative to .memory-bank/, as search results do.',
  });
}

/**
 * A path that has to be there.
 *
 * @throws MemoryError `invalid_input`.
 */
export function recordPath(path: string): string {
  const found = memoryPath(path);
  if (found !== undefined) return found;
  throw new MemoryError('invalid_input', 'The path of a record is needed.', {
    hint: 'Give it relative to .memory-bank/, as search results do.',
  });
}

/** The error for what a commit does not have. */
export function noRecord(path: string, commit: Oid): MemoryError {
  return new MemoryError('not_found', `There is no record ${path} in ${commit.slice(0, 12)}.`, {
    hint: 'The history of the memory lists the commits that have it.',
    data: { path, commit },
  });
}
