import { dirname, join } from 'node:path';
import { MemoryError } from '../../core/error.ts';
import { type Disk, inWaves, removeIfEmpty } from '../disk/disk.ts';
import { type IndexChange, IndexFile } from '../index/index-file.ts';
import type { Oid } from '../objects/object.ts';
import { type ObjectDatabase, treeOf } from '../objects/odb.ts';
import { folderMode, listTree } from '../objects/tree.ts';

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

/**
 * Creates a linked work tree with the files of a commit, as `git worktree add` does, but without hooks and
 * filters. The caller holds the process lock.
 *
 * The file `.git` in it is written last: without it, the next attempt begins again.
 *
 * @returns false if the work tree exists.
 */
export async function addWorkTree(site: WorkTreeSite, wanted: NewWorkTree): Promise<boolean> {
  const { disk, odb } = site;
  const { top, ref, commit } = wanted;
  const pointer = join(top, '.git');
  if (disk.files.lstat(pointer)) return false;
  removeFolder(disk, top);
  const admin = await adminFolder(site, pointer);
  const draft = draftOf(site);
  const changed = new Set<string>([...disk.makeDirectories(draft), ...disk.makeDirectories(top)]);
  const lines = commit === undefined ? [] : [...filesOf(odb, treeOf(odb, commit), '')];
  for (const { path } of lines) {
    for (const folder of disk.makeDirectories(dirname(join(top, path)))) changed.add(folder);
    changed.add(dirname(join(top, path)));
  }
  await inWaves(lines, ({ path, oid, mode }) =>
    disk.create(join(top, path), [odb.content(oid, 'blob')], 0o666 | (mode & 0o111)),
  );
  const index = IndexFile.read(undefined).splice(lines, [], []);
  const head: [string, Buffer][] = [
    ['commondir', Buffer.from('../..\n')],
    ['gitdir', Buffer.from(`${pointer}\n`)],
    ['HEAD', Buffer.from(`ref: ${ref}\n`)],
  ];
  await disk.create(join(draft, 'index'), index.pieces());
  for (const [name, bytes] of head) await disk.create(join(draft, name), [bytes]);
  await disk.settle([...changed, draft]);
  // Git reads every folder there, and reports one that is half made.
  for (const folder of disk.makeDirectories(dirname(admin))) changed.add(folder);
  disk.files.rename(draft, admin);
  await disk.settle([...changed, dirname(draft), dirname(admin)]);
  await disk.create(pointer, [Buffer.from(`gitdir: ${admin}\n`)]);
  await disk.settle([top]);
  return true;
}

/** Removes a linked work tree with its files, as `git worktree remove --force` does. */
export async function removeWorkTree(site: WorkTreeSite, top: string): Promise<void> {
  const { disk } = site;
  const admin = findAdmin(site, join(top, '.git'));
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
}

/** An empty path in our own folder for the folder of a work tree that is not complete. */
function draftOf({ disk, commonDir }: WorkTreeSite): string {
  const draft = join(commonDir, 'memory-bank', 'work-tree');
  removeFolder(disk, draft);
  return draft;
}

/** A new folder of a work tree in the git directory; one that an earlier attempt has left is removed. */
async function adminFolder(site: WorkTreeSite, pointer: string): Promise<string> {
  const known = findAdmin(site, pointer);
  if (known !== undefined) await removeAdmin(site, known);
  const folder = join(site.commonDir, 'worktrees');
  for (let i = 1; ; i++) {
    const path = join(folder, i === 1 ? 'memory-bank' : `memory-bank-${i}`);
    if (!site.disk.files.lstat(path)) return path;
  }
}

function findAdmin({ disk, commonDir }: WorkTreeSite, pointer: string): string | undefined {
  const folder = join(commonDir, 'worktrees');
  const names = (disk.files.list(folder) ?? []).map(({ name }) => join(folder, name));
  return names.find((path) => {
    const text = disk.files.read(join(path, 'gitdir'))?.toString('utf8').trim();
    return text === pointer;
  });
}

/** The files of a tree as lines of an index without stats, so that git compares the files themselves. */
function* filesOf(odb: ObjectDatabase, tree: Oid, prefix: string): Generator<IndexChange> {
  for (const { name, mode, oid } of listTree(odb.content(tree, 'tree'))) {
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
