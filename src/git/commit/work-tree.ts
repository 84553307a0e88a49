import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { type Disk, inWaves, removeIfEmpty } from '../disk/disk.ts';
import type { Files } from '../disk/file-layer.ts';
import { type IndexChange, IndexFile } from '../index/index-file.ts';
import { markPath } from '../index/index-mark.ts';
import type { Oid } from '../objects/object.ts';
import { type ObjectDatabase, treeOf } from '../objects/odb.ts';
import { folderMode, listTree } from '../objects/tree.ts';
import { writerOf } from '../refs/ref-writer.ts';
import { Refs } from '../refs/refs.ts';
import { isBare } from '../repository/repository-format.ts';

/** The repository to which a linked work tree is added. */
export interface WorkTreeSite {
  readonly disk: Disk;
  readonly odb: ObjectDatabase;
  readonly commonDir: string;
}

/** A linked work tree to create (git-worktree). */
export interface NewWorkTree {
  /** Absolute path of its top; its parent must be ours alone, because leftovers in it are removed. */
  readonly top: string;
  /** The branch to check out, by its full name. */
  readonly ref: string;
  /** Its commit; undefined for a branch without one. */
  readonly commit: Oid | undefined;
}

/** Limit of the size of a file with a path, in bytes. */
const maxPath = 64 * 1024;

/**
 * Whether a linked work tree is complete, and belongs to this repository and to no other.
 *
 * The file `.git` of a project that was copied with its git directory may name that of the original.
 */
export function isLinkedHere(files: Files, commonDir: string, top: string): boolean {
  const admin = adminNamedBy(files, top);
  if (admin === undefined || dirname(admin) !== join(commonDir, 'worktrees')) return false;
  return (
    files.lstat(join(admin, 'HEAD')) !== undefined && pathIn(files, admin) === join(top, '.git')
  );
}

/**
 * Refuses a branch that is checked out: its work tree would keep the files of another commit.
 *
 * @throws MemoryError `conflict`.
 */
export function checkNowhere(files: Files, commonDir: string, ref: string): void {
  const folder = join(commonDir, 'worktrees');
  const linked = (files.list(folder) ?? []).map(({ name }) => join(folder, name));
  // HEAD of a bare repository names its default branch, which is not checked out there.
  const main = isBare(files, commonDir) ? [] : [commonDir];
  for (const gitDir of [...main, ...linked]) {
    const head = new Refs(files, gitDir, commonDir).branch();
    const place = gitDir === commonDir ? commonDir : pathIn(files, gitDir);
    if (head !== ref || place === undefined || !files.lstat(place)) continue;
    const path = dirname(place);
    const branch = ref.replace(/^refs\/heads\//, '');
    throw new MemoryError(
      'conflict',
      `The branch ${branch} of the memory is checked out in ${path}.`,
      {
        hint: `Check out another one there: "git -C ${path} switch <branch>". Nothing was changed.`,
        data: { branch, path },
      },
    );
  }
}

/**
 * Creates a linked work tree with the files of a commit, as `git worktree add` does, but without hooks and
 * filters. The caller holds the process lock.
 *
 * The file `.git` in it is written last: without it, the next attempt begins again. One that leads
 * elsewhere, because the project was moved or copied, is corrected; the files stay as they are.
 *
 * @returns false if the work tree exists.
 */
export async function addWorkTree(site: WorkTreeSite, wanted: NewWorkTree): Promise<boolean> {
  const { disk, odb } = site;
  const { top, ref, commit } = wanted;
  if (isLinkedHere(disk.files, site.commonDir, top)) return false;
  const lines = commit === undefined ? [] : [...filesOf(odb, treeOf(odb, commit), '')];
  if (disk.files.lstat(join(top, '.git'))) {
    await linkAgain(site, wanted, lines);
    return true;
  }
  const known = findAdmin(site, top);
  if (known !== undefined) await removeAdmin(site, known);
  checkNowhere(disk.files, site.commonDir, ref);
  removeFolder(disk, top);
  const changed = new Set<string>(disk.makeDirectories(top));
  for (const { path } of lines) {
    for (const folder of disk.makeDirectories(dirname(join(top, path)))) changed.add(folder);
    changed.add(dirname(join(top, path)));
  }
  await inWaves(lines, ({ path, oid, mode }) =>
    disk.create(join(top, path), [odb.content(oid, 'blob')], 0o666 | (mode & 0o111)),
  );
  const admin = await createAdmin(site, top, ref, lines, changed);
  await disk.create(join(top, '.git'), [pointerTo(admin, top)]);
  await disk.settle([top]);
  return true;
}

/** Connects a work tree that has its files with this repository. */
async function linkAgain(
  site: WorkTreeSite,
  { top, ref }: NewWorkTree,
  lines: readonly IndexChange[],
): Promise<void> {
  const { disk } = site;
  const known = findAdmin(site, top);
  const isOurs =
    known !== undefined && new Refs(disk.files, known, site.commonDir).branch() === ref;
  if (isOurs) await disk.replace(join(known, 'gitdir'), [pointerIn(top)]);
  const admin = isOurs ? known : await createAdmin(site, top, ref, lines);
  await disk.replace(join(top, '.git'), [pointerTo(admin, top)]);
  await disk.settle([admin, top]);
}

/** The file `gitdir` of a work tree; git knows the top of one by the slash before `.git`. */
function pointerIn(top: string): Buffer {
  return Buffer.from(`${join(top, '.git').split(sep).join('/')}\n`);
}

/** The file `.git` of a work tree; a relative path stays right if the project is moved or copied. */
function pointerTo(admin: string, top: string): Buffer {
  return Buffer.from(`gitdir: ${relative(top, admin).split(sep).join('/')}\n`);
}

/**
 * Creates the folder of a work tree in the git directory.
 *
 * @param changed the folders of its files, which reach the medium first.
 */
async function createAdmin(
  site: WorkTreeSite,
  top: string,
  ref: string,
  lines: readonly IndexChange[],
  changed = new Set<string>(),
): Promise<string> {
  const { disk } = site;
  const admin = newAdmin(site);
  const draft = draftOf(site);
  for (const folder of disk.makeDirectories(draft)) changed.add(folder);
  const index = IndexFile.read(undefined, site.odb.format).splice(lines, [], []);
  const head: [string, Buffer][] = [
    ['commondir', Buffer.from('../..\n')],
    ['gitdir', pointerIn(top)],
    ...writerOf(new Refs(disk.files, site.commonDir, site.commonDir)).filesOfNew(ref),
  ];
  await disk.create(join(draft, 'index'), index.pieces());
  for (const [name, bytes] of head) {
    const folder = dirname(join(draft, name));
    for (const one of [...disk.makeDirectories(folder), folder]) changed.add(one);
    await disk.create(join(draft, name), [bytes]);
  }
  await disk.settle([...changed, draft]);
  // Git reads every folder there, and reports one that is half made.
  for (const folder of disk.makeDirectories(dirname(admin))) changed.add(folder);
  disk.files.rename(draft, admin);
  await disk.settle([...changed, dirname(draft), dirname(admin)]);
  return admin;
}

/** Removes a linked work tree with its files, as `git worktree remove --force` does. */
export async function removeWorkTree(site: WorkTreeSite, top: string): Promise<void> {
  const { disk } = site;
  const admin = findAdmin(site, top);
  // Without it, git takes the rest for a work tree that was deleted.
  disk.discard(join(top, '.git'));
  removeFolder(disk, top);
  if (admin !== undefined) await removeAdmin(site, admin);
}

/** Removes the folder of a work tree in the git directory: git reports one that has lost some files. */
async function removeAdmin(site: WorkTreeSite, admin: string): Promise<void> {
  const { disk } = site;
  const draft = draftOf(site);
  disk.files.rename(admin, draft);
  await disk.settle([dirname(admin), dirname(draft)]);
  removeFolder(disk, draft);
  disk.tryDiscard(markPath(dirname(draft), admin));
}

/** An empty path in our own folder for the folder of a work tree that is not complete. */
function draftOf({ disk, commonDir }: WorkTreeSite): string {
  const draft = join(commonDir, 'memory-bank', 'work-tree');
  removeFolder(disk, draft);
  return draft;
}

/** The path of a new folder of a work tree in the git directory. */
function newAdmin({ disk, commonDir }: WorkTreeSite): string {
  const folder = join(commonDir, 'worktrees');
  for (let i = 1; ; i++) {
    const path = join(folder, i === 1 ? 'memory-bank' : `memory-bank-${i}`);
    if (!disk.files.lstat(path)) return path;
  }
}

/**
 * The folder of a work tree in the git directory: the one that names it, or the one that it names, if that
 * has no other work tree.
 */
function findAdmin({ disk, commonDir }: WorkTreeSite, top: string): string | undefined {
  const { files } = disk;
  const pointer = join(top, '.git');
  const folder = join(commonDir, 'worktrees');
  const admins = (files.list(folder) ?? []).map(({ name }) => join(folder, name));
  const known = admins.find((admin) => pathIn(files, admin) === pointer);
  if (known !== undefined) return known;
  const named = basename(adminNamedBy(files, top) ?? '');
  return admins.find((admin) => basename(admin) === named && !hasOtherTree(files, admin, pointer));
}

/** Whether a folder of a work tree belongs to another work tree than the one with the pointer. */
function hasOtherTree(files: Files, admin: string, pointer: string): boolean {
  const other = pathIn(files, admin);
  const stat = other === undefined ? undefined : files.lstat(other);
  if (other === undefined || !stat) return false;
  // A folder can be mounted at two paths.
  const { ino } = files.lstat(pointer) ?? {};
  // Some network disks give every file the inode 0.
  const isSame = stat.ino === ino && ino !== 0;
  return !isSame && adminNamedBy(files, dirname(other)) === admin;
}

/** The path of the file `.git` of the work tree to which a folder in the git directory belongs. */
function pathIn(files: Files, admin: string): string | undefined {
  const path = files.read(join(admin, 'gitdir'), maxPath)?.toString('utf8').trim();
  // As git writes it, it may be relative, and has slashes on Windows.
  return path && resolve(admin, path);
}

/** The folder that the file `.git` of a work tree names. */
function adminNamedBy(files: Files, top: string): string | undefined {
  const text = files.read(join(top, '.git'), maxPath)?.toString('utf8') ?? '';
  const path = /^gitdir: (.+?)\s*$/.exec(text)?.[1];
  return path && resolve(top, path);
}

/** The files of a tree as lines of an index without stats, so that git compares the files themselves. */
function* filesOf(odb: ObjectDatabase, tree: Oid, prefix: string): Generator<IndexChange> {
  for (const { name, mode, oid } of listTree(odb.content(tree, 'tree'), odb.format)) {
    const path = prefix + name;
    // Git itself does not check these out; a remote can send any.
    if (/^(?:\.{0,2}|\.git)$|[/\\\0]/i.test(name)) {
      throw new MemoryError(
        'damaged',
        `A commit has a file with the name ${JSON.stringify(path)}.`,
      );
    }
    if (mode === folderMode) yield* filesOf(odb, oid, `${path}/`);
    // Links and submodules are not records.
    else if (mode.startsWith('100')) {
      yield { path, oid, mode: Number.parseInt(mode, 8), stat: undefined };
    }
  }
}

/** Removes a folder with everything in it; no link is followed. */
function removeFolder(disk: Disk, folder: string): void {
  for (const { name, kind } of disk.files.list(folder) ?? []) {
    if (kind === 'directory') removeFolder(disk, join(folder, name));
    else disk.discard(join(folder, name));
  }
  removeIfEmpty(disk, folder);
}
