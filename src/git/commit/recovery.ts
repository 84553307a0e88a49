import { basename, dirname, join, resolve } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { removeIfEmpty } from '../disk/disk.ts';
import { throughLink } from '../disk/file-layer.ts';
import { type IndexChange, type IndexFile, type LineStat, lineStat } from '../index/index-file.ts';
import { type IndexEdit, indexKey, indexOf, indexPath, writeIndex } from '../index/known-index.ts';
import {
  areLinked,
  GitLock,
  holdsToken,
  type LockRole,
  lockRoles,
  proofPath,
} from '../locks/lock.ts';
import { discardName, turnName } from '../locks/owned-names.ts';
import type { ProcessToken } from '../locks/token.ts';
import { isBlob, type Oid, objectId } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { treeOf } from '../objects/odb.ts';
import { TreeFolder } from '../objects/tree-folder.ts';
import { filesBelow } from '../refs/loose-refs.ts';
import { writerOf } from '../refs/ref-writer.ts';
import { Refs } from '../refs/refs.ts';
import { isTableName, sweepTables } from '../reftable/table-addition.ts';
import { listName } from '../reftable/table-stack.ts';
import { type Journal, journalPath, readJournal, temporaryName } from './journal.ts';

/** A repository for recovery, with all its work trees. */
export interface RepositorySite {
  readonly disk: Disk;
  readonly odb: ObjectDatabase;
  readonly commonDir: string;
  /** Our own folder in the common git directory. */
  readonly folder: string;
  /** Reports a problem that does not make the call fail. */
  warn(message: string): void;
}

/** How long to wait for git's own locks while cleaning up, in milliseconds. */
const lockWait = { limit: 10_000 };

/**
 * Cleans up after a process that died or gave up: finishes or undoes its mutation, and removes its locks
 * and temporary files. The caller holds the process lock.
 *
 * @param id of the dead process's token.
 * @param names its files in our folder.
 */
export async function recover(
  site: RepositorySite,
  token: ProcessToken,
  id: string,
  names: readonly string[],
): Promise<void> {
  const path = journalPath(site.folder, id);
  const journal = journalOf(site, path);
  if (journal) await settle(site, token, journal, sideOf(site, journal));
  discardDraft(site, id);
  const isLinked = !names.includes(turnName(id));
  for (const role of lockRoles) {
    if (isLinked) removeLink(site, role, id);
    else removeLock(site, role, (lock) => holdsToken(site.disk.files, lock, id));
  }
  site.disk.discard(path);
  const rest = names.filter((name) => !name.startsWith('owner-'));
  for (const name of [...rest, `owner-${id}`]) discardName(site.disk, join(site.folder, name));
}

/** Reads a journal; an invalid one is renamed, and its files count as the user's edits from then on. */
function journalOf(site: RepositorySite, path: string): Journal | undefined {
  try {
    return readJournal(site.disk, path);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const aside = `${path}.damaged`;
    site.disk.files.rename(path, aside);
    site.warn(`${error.message} It was put aside as ${aside}; "git status" shows what it left.`);
    return undefined;
  }
}

/**
 * The ref of a mutation: still at the parent, at the commit, or moved elsewhere by the user.
 */
export type RefState = 'before' | 'after' | 'elsewhere';

/** Compares the ref with the journal of a mutation. */
export function sideOf(site: RepositorySite, journal: Journal): RefState {
  const gitDir = gitDirOf(site, journal);
  // A linked work tree may have been removed since, with its git directory.
  if (!site.disk.files.lstat(join(gitDir, 'HEAD'))) return 'elsewhere';
  const head = new Refs(site.disk.files, gitDir, site.commonDir).head();
  // Another branch is checked out by now, and the files on disk belong to it.
  if (head.ref !== journal.ref) return 'elsewhere';
  if (head.oid === journal.commit) return 'after';
  return head.oid === journal.parent ? 'before' : 'elsewhere';
}

/**
 * Brings the work tree and the index in line with the ref.
 *
 * Files and index may be on either side of the ref: a power cut can lose each of the renames. If the ref is
 * at the commit, files and index lines are set; if it is at the parent, they are put back.
 * With the ref elsewhere the work tree belongs to the user, and only our temporary files are removed.
 */
export async function settle(
  site: RepositorySite,
  token: ProcessToken,
  journal: Journal,
  side: RefState,
): Promise<void> {
  const { disk, commonDir } = site;
  const top = topOf(site, journal);
  for (const [i, file] of journal.files.entries()) {
    disk.discard(join(top, dirname(file.path), temporaryName(journal.token, i)));
  }
  if (side !== 'elsewhere') await place(site, journal, top, side);
  if (side !== 'elsewhere') await fixIndex(site, token, journal, top, side);
  if (side !== 'elsewhere') {
    const refs = new Refs(disk.files, gitDirOf(site, journal), commonDir);
    const adopt = (path: string, role: LockRole) => adoptLock(site, token, journal, path, role);
    await writerOf(refs).settleLogs(journal, side === 'after', { disk, adopt });
  }
  for (const folder of [...journal.folders].reverse()) removeIfEmpty(disk, join(top, folder));
}

/**
 * Puts back the files and index lines of a mutation whose ref moved elsewhere because its locks were
 * removed. Only the process itself calls this, because it knows that the files are its own: left in
 * place, they would look like an edit by hand, and a retry would find its change already made.
 */
export async function takeBack(
  site: RepositorySite,
  token: ProcessToken,
  journal: Journal,
): Promise<void> {
  const { oid } = new Refs(site.disk.files, gitDirOf(site, journal), site.commonDir).head();
  const committed = new TreeFolder(site.odb, oid && treeOf(site.odb, oid));
  const files = journal.files.filter(({ path, after }) => committed.oid(path) !== after);
  const top = topOf(site, journal);
  await place(site, { ...journal, files }, top, 'before');
  await fixIndex(site, token, { ...journal, files }, top, 'before');
}

function gitDirOf(site: RepositorySite, journal: Journal): string {
  return resolve(site.commonDir, journal.gitDir);
}

/** The top of the work tree; the git directory of a linked work tree knows where it was moved to. */
function topOf(site: RepositorySite, journal: Journal): string {
  const gitDir = gitDirOf(site, journal);
  const linked = site.disk.files.read(join(gitDir, 'gitdir'))?.toString('utf8').trim();
  return linked ? dirname(resolve(gitDir, linked)) : resolve(site.commonDir, journal.top);
}

/** Gives the files of a journal the content of one side, if they have that of the other. */
async function place(
  site: RepositorySite,
  journal: Journal,
  top: string,
  side: 'before' | 'after',
): Promise<void> {
  const { files } = site.disk;
  const folders = new Set<string>();
  // New files first: on a disk that ignores letter case, one of them may have the place of an earlier file.
  const moves = journal.files
    .map((file, i) => {
      const [from, to] = side === 'before' ? [file.after, file.before] : [file.before, file.after];
      return { i, from, to, path: join(top, file.path), mode: file.mode };
    })
    .sort((a, b) => Number(a.to !== undefined) - Number(b.to !== undefined));
  for (const { i, from, to, path, mode } of moves) {
    const stat = files.lstat(path);
    if (stat && stat.kind !== 'file') continue;
    const found = stat && files.read(path);
    const oid = found && objectId('blob', found, site.odb.format);
    if (oid !== from || oid === to) continue;
    if (to !== undefined && !site.odb.has(to)) {
      site.warn(`${path} was not restored: its earlier content is not in the repository.`);
      continue;
    }
    if (to === undefined) {
      site.disk.discard(path);
    } else {
      const temporary = join(dirname(path), temporaryName(journal.token, i));
      folders.add(dirname(path));
      for (const folder of site.disk.makeDirectories(dirname(path))) folders.add(folder);
      const bytes = site.odb.content(to, 'blob');
      await site.disk.create(temporary, [bytes], 0o666 | (mode & 0o111), stat?.mode);
      files.rename(temporary, path);
    }
  }
  await site.disk.settle(folders);
}

/** Sets the index lines of the journal's files to one side if they are at the other. */
export async function fixIndex(
  site: RepositorySite,
  token: ProcessToken,
  journal: Journal,
  top: string,
  side: 'before' | 'after',
): Promise<void> {
  const { disk, folder } = site;
  const tree = { top, gitDir: gitDirOf(site, journal) };
  const location = { disk, odb: site.odb, tree };
  const target = indexPath(disk.files, tree);
  const changes = () => indexChanges(site, tree.gitDir, journal, top, side);
  const ours = GitLock.adopt(disk, target, 'index', folder, journal.token);
  // If another process holds the lock by now, there is usually nothing left to change.
  if (!ours && !changes()) return;
  const lock = ours ?? openAgain(site, token, target, 'index');
  const write = async () => {
    const key = indexKey(location);
    const change = changes();
    if (change) await writeIndex(location, change.file, change.edit, lock);
    return { key, hasChange: change !== undefined };
  };
  try {
    // Before the lock is taken, because git does not wait for it.
    let written = await write();
    if (!ours) {
      await disk.settle([folder]);
      await lock.acquire(lockWait);
      if (indexKey(location) !== written.key) written = await write();
    }
    if (!written.hasChange) {
      lock.release();
      return;
    }
    lock.commit(target);
    await disk.settle([dirname(target)]);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The edit that sets index lines to one side; undefined if none of them is at the other. */
function indexChanges(
  { disk, odb }: Pick<RepositorySite, 'disk' | 'odb'>,
  gitDir: string,
  journal: Journal,
  top: string,
  side: 'before' | 'after',
): { readonly file: IndexFile; readonly edit: IndexEdit } | undefined {
  const file = indexOf(disk.files, { gitDir }, odb.format);
  // The versions of a conflict are the user's, also where one of them is ours.
  const unmerged = new Set(file.unmerged ? file.unmergedBelow('').map(({ path }) => path) : []);
  const set: IndexChange[] = [];
  const remove: string[] = [];
  for (const { path, indexed, after, mode } of journal.files) {
    const [from, to] = side === 'after' ? [indexed, after] : [after, indexed];
    if (file.find(path)?.oid !== from || from === to || unmerged.has(path)) continue;
    if (to === undefined) remove.push(path);
    else set.push({ path, oid: to, mode, stat: statOf(disk, join(top, path), to) });
  }
  return set.length + remove.length > 0 ? { file, edit: { set, remove, trees: [] } } : undefined;
}

/** The stat of a file if it contains this blob; the user may have changed it since. */
function statOf(disk: Disk, path: string, oid: Oid): LineStat | undefined {
  const stat = disk.files.lstatExact(path);
  const bytes = stat?.isFile() ? disk.files.read(path) : undefined;
  return stat && bytes && isBlob(bytes, oid) ? lineStat(stat) : undefined;
}

/** Takes a lock of a mutation over from the process that made it, or takes it again. */
async function adoptLock(
  site: RepositorySite,
  token: ProcessToken,
  journal: Journal,
  target: string,
  role: LockRole,
): Promise<GitLock> {
  const ours = GitLock.adopt(site.disk, target, role, site.folder, journal.token);
  if (ours) return ours;
  const lock = openAgain(site, token, target, role);
  await lock.acquire(lockWait);
  return lock;
}

/** Opens a lock for which this process may have an old file. */
function openAgain(
  { disk, folder }: RepositorySite,
  token: ProcessToken,
  target: string,
  role: LockRole,
): GitLock {
  // A network disk may report an error for a rename that it did; then an old proof of ours is left.
  disk.discard(proofPath(folder, role, token.id));
  return GitLock.open(disk, target, role, folder, token);
}

/** Removes the table of a dead process that no list names, if it had not taken the lock of the list yet. */
function discardDraft({ disk, commonDir, folder }: RepositorySite, id: string): void {
  const stack = join(commonDir, 'reftable');
  const list = disk.files.read(join(stack, listName))?.toString('latin1');
  if (list === undefined) return;
  const draft = disk.files.read(proofPath(folder, 'ref', id))?.toString('latin1') ?? '';
  const [name] = draft.split('\n').filter(isTableName).slice(-1);
  if (name !== undefined && !list.split('\n').includes(name)) disk.discard(join(stack, name));
}

/** Removes a git lock of a dead process, which is found by its inode. */
function removeLink(site: RepositorySite, role: LockRole, id: string): void {
  const { files } = site.disk;
  const proof = files.lstat(proofPath(site.folder, role, id));
  if (!proof || proof.links < 2) return;
  removeLock(site, role, (path) => areLinked(proof, files.lstat(path)));
}

function removeLock(site: RepositorySite, role: LockRole, isOf: (path: string) => boolean): void {
  for (const path of candidates(site, role)) {
    if (!isOf(path)) continue;
    // Under a lock of that process, a table that no list names is also one of it.
    if (basename(path) === `${listName}.lock`) sweep(site.disk, dirname(path));
    site.disk.discard(path);
  }
}

function sweep(disk: Disk, folder: string): void {
  const list = disk.files.read(join(folder, listName))?.toString('latin1');
  if (list !== undefined) sweepTables(disk, folder, list.split('\n'));
}

function candidates(site: RepositorySite, role: LockRole): string[] {
  const { files } = site.disk;
  const of = (path: string) => [`${path}.lock`, `${throughLink(files, path)}.lock`];
  const tables = (gitDir: string) => join(gitDir, 'reftable', listName);
  if (role === 'ref') {
    const locks = filesBelow(files, site.commonDir, 'refs').filter((name) =>
      name.endsWith('.lock'),
    );
    return [...locks.map((name) => join(site.commonDir, name)), ...of(tables(site.commonDir))];
  }
  if (role === 'packed') return of(join(site.commonDir, 'packed-refs'));
  if (role === 'config') return of(join(site.commonDir, 'config'));
  const worktrees = join(site.commonDir, 'worktrees');
  const linked = (files.list(worktrees) ?? []).map(({ name }) => join(worktrees, name));
  const inEach = (gitDir: string) =>
    role === 'index'
      ? of(join(gitDir, 'index'))
      : [...of(join(gitDir, 'HEAD')), ...of(tables(gitDir))];
  return [site.commonDir, ...linked].flatMap(inEach);
}
