import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { FileChange } from '../../git/commit/commit-plan.ts';
import type { Repository } from '../../git/commit/repository.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { isBlob, type Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { folderMode, listTree } from '../../git/objects/tree.ts';
import { folderAt } from '../history/last-change.ts';

/** The files of a memory in one place. */
export interface PlacedFiles {
  readonly repository: Repository;
  /** The top of the work tree with the files. */
  readonly top: string;
  /** The memory folder, relative to the top. */
  readonly folder: string;
  /** The commit that the work tree is at. */
  readonly tip: Oid | undefined;
}

/**
 * Compares the files of a memory with its last commit.
 *
 * @returns the committed files, relative to the top of the work tree.
 * @throws MemoryError `conflict` for changes that are not committed.
 */
export function checkClean(files: Files, placed: PlacedFiles): readonly string[] {
  const { repository, top, folder, tip } = placed;
  const tree = tip === undefined ? undefined : folderAt(repository.odb, tip, folder);
  const committed = filesIn(repository.odb, tree, folder);
  // A branch that is checked out nowhere has no edits.
  if (!files.lstat(join(top, '.git'))) return [...committed.keys()];
  for (const path of new Set([...committed.keys(), ...filesOn(files, top, folder)])) {
    const bytes = files.read(join(top, path));
    const oid = committed.get(path)?.oid;
    if (bytes && oid !== undefined && isBlob(bytes, oid)) continue;
    throw new MemoryError('conflict', `${path} has changes that are not committed.`, {
      hint: `Commit or discard them: "git -C ${top} status" lists them. Nothing was changed.`,
      data: { path },
    });
  }
  return [...committed.keys()];
}

/** A version of the memory folder. */
interface Version {
  readonly odb: ObjectDatabase;
  readonly tree: Oid | undefined;
}

/** The changes that make one version of the memory folder the other one. */
export function changesBetween(before: Version, after: Version, folder: string): FileChange[] {
  const [old, now] = [before, after].map(({ odb, tree }) => filesIn(odb, tree, folder));
  return [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])].flatMap((path) => {
    const [was, is] = [old?.get(path), now?.get(path)];
    if (was?.oid === is?.oid) return [];
    const seen = was && before.odb.content(was.oid, 'blob');
    return [{ path, seen, bytes: is && after.odb.content(is.oid, 'blob'), mode: is?.mode }];
  });
}

/** The files below a tree, by their paths. */
function filesIn(
  odb: ObjectDatabase,
  tree: Oid | undefined,
  folder: string,
): ReadonlyMap<string, { readonly oid: Oid; readonly mode: string }> {
  const found = new Map<string, { readonly oid: Oid; readonly mode: string }>();
  const visit = (tree: Oid, prefix: string) => {
    for (const { name, mode, oid } of listTree(odb.content(tree, 'tree'), odb.format)) {
      if (mode === folderMode) visit(oid, `${prefix}${name}/`);
      else found.set(prefix + name, { oid, mode });
    }
  };
  if (tree !== undefined) visit(tree, `${folder}/`);
  return found;
}

/** The files of a folder on disk; a link counts as a file. */
function* filesOn(files: Files, top: string, folder: string): Generator<string> {
  for (const { name, kind } of files.list(join(top, folder)) ?? []) {
    const path = `${folder}/${name}`;
    if (kind === 'directory') yield* filesOn(files, top, path);
    else yield path;
  }
}
