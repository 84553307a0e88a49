import { dirname, join } from 'node:path';
import type { BranchWork } from '../../core/declarations/context.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Repository } from '../../git/commit/repository.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import type { IndexFile } from '../../git/index/index-file.ts';
import { loadIndex } from '../../git/index/known-index.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { type ObjectDatabase, treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import type { Refs } from '../../git/refs/refs.ts';

/** Limit of commits that the search for the base of a branch reads. */
const maxWalk = 1000;
/** Largest number of tracked files whose stat is compared. */
const maxTracked = 20_000;

/** Branches that others begin on, in the order in which they are tried. */
const mainBranches = [
  'refs/remotes/origin/HEAD',
  'refs/remotes/origin/main',
  'refs/remotes/origin/master',
  'refs/heads/main',
  'refs/heads/master',
];

/**
 * Lists the files that the branch has changed since its base, and the edited files of the work tree.
 *
 * @param folder the memory folder, relative to the top of the work tree.
 * @param index of the repository, if it is read already.
 */
export function branchWork(
  repository: Pick<Repository, 'odb' | 'refs' | 'tree'>,
  files: Files,
  folder: string,
  limit: number,
  index = readIndex(files, repository.tree),
): BranchWork {
  const root = folder.includes('/') ? `${dirname(folder)}/` : '';
  const toPath = (path: string) =>
    path.startsWith(root) && !path.startsWith(`${folder}/`) ? path.slice(root.length) : undefined;
  const { odb, tree } = repository;
  const base = baseOf(repository.refs, odb);
  const committed = base ? changedFiles(odb, base.oid, base.head, toPath, limit) : [];
  const edited = index ? editedFiles(files, index, tree.top, folder, toPath, limit) : [];
  return { base: base?.name, committed, edited };
}

interface Base {
  readonly name: string;
  /** The commit at which the branch began. */
  readonly oid: Oid;
  readonly head: Oid;
}

/** The first main branch that HEAD has a commit in common with; undefined on a main branch itself. */
function baseOf(refs: Refs, odb: ObjectDatabase): Base | undefined {
  const { ref, oid: head } = refs.head();
  if (head === undefined || mainBranches.includes(ref ?? '')) return undefined;
  for (const candidate of mainBranches) {
    const tip = refs.find(candidate);
    const oid = tip === undefined ? undefined : commonAncestor(odb, head, tip);
    if (oid !== undefined) {
      return { name: candidate.replace(/^refs\/(?:heads|remotes)\//, ''), oid, head };
    }
  }
  return undefined;
}

/** The newest commit that two commits have in common; undefined if it is too far away. */
export function commonAncestor(odb: ObjectDatabase, one: Oid, other: Oid): Oid | undefined {
  const sides = new Map<Oid, number>();
  const queue: { readonly oid: Oid; readonly time: number; readonly parents: readonly Oid[] }[] =
    [];
  const mark = (oid: Oid, side: number) => {
    const known = sides.get(oid) ?? 0;
    if ((known | side) === known || !odb.has(oid)) return;
    sides.set(oid, known | side);
    if (known !== 0 && queue.some((entry) => entry.oid === oid)) return;
    const { parents, committer } = parseCommit(odb.content(oid, 'commit'));
    queue.push({ oid, time: committer.seconds, parents });
  };
  mark(one, 1);
  mark(other, 2);
  for (let read = 0; read < maxWalk; read++) {
    queue.sort((a, b) => a.time - b.time);
    const next = queue.pop();
    if (!next) return undefined;
    const side = sides.get(next.oid) ?? 0;
    if (side === 3) return next.oid;
    for (const parent of next.parents) mark(parent, side);
  }
  return undefined;
}

function changedFiles(
  odb: ObjectDatabase,
  from: Oid,
  to: Oid,
  toPath: (path: string) => string | undefined,
  limit: number,
): string[] {
  const found: string[] = [];
  for (const { path } of differences(odb, treeOf(odb, from), treeOf(odb, to))) {
    const own = toPath(path);
    if (own === undefined) continue;
    if (found.length === limit) break;
    found.push(own);
  }
  return found;
}

/** Files whose size or time is not the one in the index. */
function editedFiles(
  files: Files,
  index: IndexFile,
  top: string,
  folder: string,
  toPath: (path: string) => string | undefined,
  limit: number,
): string[] {
  if (index.count > maxTracked) return [];
  const found: string[] = [];
  for (const { name, mtime, size, mode, skipWorktree } of index.linesOutside(folder)) {
    if (found.length === limit) break;
    // Submodules are folders.
    if (skipWorktree || (mode & 0o170000) === 0o160000) continue;
    const path = name.toString('utf8');
    const own = toPath(path);
    if (own === undefined || found.at(-1) === own) continue;
    const stat = files.lstat(join(top, path));
    const same = stat && stat.size % 2 ** 32 === size && Math.floor(stat.mtimeMs / 1000) === mtime;
    if (!same) found.push(own);
  }
  return found;
}

/** Returns the index of a work tree; undefined if it cannot be read. */
export function readIndex(files: Files, tree: Repository['tree']): IndexFile | undefined {
  try {
    return loadIndex(files, tree);
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}
