import type { Drift } from '../../core/declarations/context.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { findEntry, folderMode, spliceTree, type TreeEntry } from '../../git/objects/tree.ts';
import { differences } from '../../git/objects/tree-diff.ts';

/** Limit of commits that a search in the history reads. */
export const maxWalk = 5000;

/** The tree entry of a commit at a path. */
export function entryAt(odb: ObjectDatabase, commit: Oid, path: string): TreeEntry | undefined {
  let entry: TreeEntry | undefined = { mode: folderMode, oid: treeOf(odb, commit) };
  for (const name of path.split('/').filter((part) => part)) {
    if (entry?.mode !== folderMode) return undefined;
    entry = findEntry(odb.content(entry.oid, 'tree'), name, odb.format);
  }
  return entry;
}

/** The tree of a folder in a commit; undefined if the commit does not have the folder. */
export function folderAt(odb: ObjectDatabase, commit: Oid, path: string): Oid | undefined {
  const entry = entryAt(odb, commit, path);
  return entry?.mode === folderMode ? entry.oid : undefined;
}

/** The last commit that changed a path, as in `git log -1 -- path`. */
export function lastChange(
  odb: ObjectDatabase,
  head: Oid,
  path: string,
): { readonly oid: Oid; readonly at: string } | undefined {
  let at = head;
  const now = entryAt(odb, head, path)?.oid;
  if (now === undefined) return undefined;
  for (let i = 0; i < maxWalk; i++) {
    const commit = parseCommit(odb.content(at, 'commit'));
    const same = commit.parents.find(
      (parent) => odb.has(parent) && entryAt(odb, parent, path)?.oid === now,
    );
    if (same === undefined) {
      return { oid: at, at: new Date(commit.committer.seconds * 1000).toISOString() };
    }
    at = same;
  }
  return undefined;
}

/**
 * Counts the commits and lists the files that changed outside a folder between two commits.
 *
 * @param folder the memory folder, relative to the top of the work tree.
 */
export function drift(
  odb: ObjectDatabase,
  since: Oid,
  head: Oid,
  folder: string,
  limit: number,
): Drift {
  const rest = (commit: Oid) => outsideOf(odb, commit, folder);
  let commits = 0;
  let truncated = false;
  const seen = new Set<Oid>([since]);
  const queue = [head];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    if (seen.has(at)) continue;
    seen.add(at);
    if (commits >= limit || seen.size > maxWalk) {
      truncated = true;
      break;
    }
    const { parents } = parseCommit(odb.content(at, 'commit'));
    const known = parents.filter((parent) => odb.has(parent));
    const own = rest(at);
    // A merge counts only if it differs from every parent.
    if (known.length > 0 && known.every((parent) => rest(parent) !== own)) commits += 1;
    queue.push(...known);
  }
  const files: string[] = [];
  for (const { path } of differences(odb, treeOf(odb, since), treeOf(odb, head))) {
    if (path.startsWith(`${folder}/`)) continue;
    truncated ||= files.length === limit;
    if (files.length === limit) break;
    files.push(path);
  }
  return { commits, files, truncated };
}

/**
 * Lists the commits between two commits that change files outside a folder, the oldest first.
 *
 * It follows the first parents, and returns nothing if they do not lead to the earlier commit.
 */
export function commitsOutside(odb: ObjectDatabase, since: Oid, head: Oid, folder: string): Oid[] {
  const found: Oid[] = [];
  let at = head;
  for (let i = 0; i < maxWalk && at !== since; i++) {
    const [parent] = parseCommit(odb.content(at, 'commit')).parents;
    if (parent === undefined || !odb.has(parent)) return [];
    if (outsideOf(odb, at, folder) !== outsideOf(odb, parent, folder)) found.push(at);
    at = parent;
  }
  return at === since ? found.reverse() : [];
}

/** A text that identifies everything that a commit has outside a folder. */
export function outsideOf(odb: ObjectDatabase, commit: Oid, folder: string): string {
  return withoutFolder(odb, treeOf(odb, commit), folder.split('/'));
}

/** The entries of a tree without one folder, as bytes. */
function withoutFolder(odb: ObjectDatabase, tree: Oid, folder: readonly string[]): string {
  const [name = '', ...below] = folder;
  const bytes = odb.content(tree, 'tree');
  const entry = findEntry(bytes, name, odb.format);
  // A file that has the name of a folder above it counts as outside.
  if (!entry || (below.length > 0 && entry.mode !== folderMode)) return bytes.toString('latin1');
  const inner = below.length === 0 ? '' : withoutFolder(odb, entry.oid, below);
  return `${spliceTree(bytes, [[name, undefined]], odb.format).toString('latin1')}${inner}`;
}
