import { dirname, join } from 'node:path';
import type { Disk } from './disk.ts';
import { errno } from './files.ts';
import { type IndexChange, IndexFile } from './index-file.ts';
import { type Journal, journalPath, readJournal, temporaryName } from './journal.ts';
import { GitLock, type LockRole } from './lock.ts';
import { type Oid, objectId } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { trimReflogs } from './reflog.ts';
import { Refs } from './refs.ts';
import type { Token } from './token.ts';

/** What recovery works with: one repository, all its work trees. */
export interface Site {
  readonly disk: Disk;
  readonly odb: ObjectDatabase;
  readonly commonDir: string;
  /** Our own folder in the common git directory. */
  readonly folder: string;
}

/** How long to wait for git's own locks while cleaning up, in milliseconds. */
const patience = { limit: 10_000 };

/**
 * Cleans up after a process that died or gave up: its mutation ends up wholly there or wholly
 * absent, and none of its locks and temporary files stay. Needs the process lock.
 *
 * @param id of the dead process's token.
 * @param names its files in our folder.
 */
export async function recover(
  site: Site,
  token: Token,
  id: string,
  names: readonly string[],
): Promise<void> {
  const path = journalPath(site.folder, id);
  const journal = readJournal(site.disk, path);
  if (journal) await settle(site, token, journal);
  for (const role of ['index', 'head', 'ref'] as const) removeLock(site, role, id);
  site.disk.discard(path);
  const rest = names.filter((name) => !name.startsWith('owner-'));
  for (const name of [...rest, `owner-${id}`]) site.disk.discard(join(site.folder, name));
}

/**
 * Brings the work tree and the index in line with what became of the ref.
 *
 * The ref at the commit: the mutation happened, its index is finished. The ref at the parent: it did
 * not, its files are put back. The ref elsewhere: a person has moved it since; what lies in the work
 * tree is his, and only our temporary files go.
 */
export async function settle(site: Site, token: Token, journal: Journal): Promise<void> {
  const { disk } = site;
  const now = currentCommit(site, journal);
  for (const [i, file] of journal.files.entries()) {
    disk.discard(join(journal.top, dirname(file.path), temporaryName(journal.token, i)));
  }
  if (now === journal.commit) {
    await fixIndex(site, token, journal, 'after');
  } else if (now === journal.parent) {
    await putBack(site, journal);
    await fixIndex(site, token, journal, 'before');
    trimReflogs(disk, journal.logs, journal.commit);
  }
  for (const folder of [...journal.folders].reverse()) removeIfEmpty(disk, folder);
}

function currentCommit(site: Site, journal: Journal): Oid | undefined {
  // A linked work tree may have been removed since, with its git directory.
  if (!site.disk.files.lstat(join(journal.gitDir, 'HEAD'))) return 'elsewhere';
  const refs = new Refs(site.disk.files, journal.gitDir, site.commonDir);
  const head = refs.head();
  // Another branch is checked out by now: the files on disk belong to that one.
  if (head.ref !== journal.ref) return 'elsewhere';
  return head.oid;
}

async function putBack(site: Site, journal: Journal): Promise<void> {
  const { files } = site.disk;
  const folders = new Set<string>();
  for (const [i, file] of journal.files.entries()) {
    const path = join(journal.top, file.path);
    const found = files.lstat(path)?.kind === 'file' ? files.read(path) : undefined;
    const oid = found && objectId('blob', found);
    if (oid !== file.after || oid === file.before) continue;
    if (file.before === undefined) {
      site.disk.discard(path);
    } else {
      const temporary = join(dirname(path), temporaryName(journal.token, i));
      folders.add(dirname(path));
      for (const folder of site.disk.makeDirectories(dirname(path))) folders.add(folder);
      const bytes = site.odb.content(file.before, 'blob');
      await site.disk.create(
        temporary,
        [bytes],
        0o666 | (file.mode & 0o111),
        files.lstat(path)?.mode,
      );
      files.rename(temporary, path);
    }
  }
  await site.disk.settle(folders);
}

/** Sets the index lines of the journal's files to one side, where they are at the other. */
async function fixIndex(
  site: Site,
  token: Token,
  journal: Journal,
  side: 'before' | 'after',
): Promise<void> {
  const { disk } = site;
  const target = join(journal.gitDir, 'index');
  const proof = join(site.folder, `index-${journal.token}`);
  const lock =
    GitLock.adopt(disk, target, proof) ??
    (await GitLock.take(disk, target, 'index', site.folder, token, patience));
  try {
    const index = new IndexFile(disk.files.read(target));
    const other = side === 'before' ? 'after' : 'before';
    const wrong = journal.files.filter(({ path, ...oids }) => {
      return index.find(path)?.oid === oids[other] && oids[other] !== oids[side];
    });
    if (wrong.length === 0) {
      lock.release();
      return;
    }
    const set: IndexChange[] = [];
    const remove: string[] = [];
    for (const file of wrong) {
      const oid = file[side];
      const stat = disk.files.lstatExact(join(journal.top, file.path));
      // Undoing only: what a person had staged before is not known any more, his file's bytes are.
      if (oid === undefined) remove.push(file.path);
      else if (stat) set.push({ path: file.path, oid, mode: file.mode, stat });
    }
    await lock.fill([index.splice(set, remove, [])]);
    lock.commit(target);
    await disk.settle([journal.gitDir]);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Removes a lock of git's that a dead process holds, found by its inode. */
function removeLock(site: Site, role: LockRole, id: string): void {
  const { files } = site.disk;
  const proof = files.lstat(join(site.folder, `${role}-${id}`));
  if (!proof || proof.links < 2) return;
  for (const path of candidates(site, role)) {
    if (files.lstat(path)?.ino === proof.ino) site.disk.discard(path);
  }
}

function candidates(site: Site, role: LockRole): string[] {
  const { files } = site.disk;
  if (role === 'ref') return locksBelow(site, join(site.commonDir, 'refs'));
  const worktrees = join(site.commonDir, 'worktrees');
  const linked = (files.list(worktrees) ?? []).map(({ name }) => join(worktrees, name));
  const name = role === 'index' ? 'index.lock' : 'HEAD.lock';
  return [site.commonDir, ...linked].map((gitDir) => join(gitDir, name));
}

function locksBelow(site: Site, folder: string): string[] {
  return (site.disk.files.list(folder) ?? []).flatMap(({ name, kind }) => {
    const path = join(folder, name);
    if (kind === 'directory') return locksBelow(site, path);
    return name.endsWith('.lock') ? [path] : [];
  });
}

/** Removes a folder that nothing is in. */
export function removeIfEmpty(disk: Disk, folder: string): boolean {
  try {
    disk.files.rmdir(folder);
    return true;
  } catch (error) {
    const code = errno(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return false;
    throw error;
  }
}
