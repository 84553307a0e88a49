import type { Drift } from '../core/context.ts';
import { type Oid, parseCommit } from '../git/object.ts';
import type { ObjectDatabase } from '../git/odb.ts';
import { treeOf } from '../git/plan.ts';
import { findEntry, folderMode, listTree, spliceTree } from '../git/tree.ts';

/** How many commits a question about the past looks at before it gives up. */
const maxWalk = 5000;

/** What a commit has at a path: the id of a file or folder. */
export function entryAt(odb: ObjectDatabase, commit: Oid, path: string): Oid | undefined {
  let oid: Oid | undefined = treeOf(odb, commit);
  for (const name of path.split('/').filter((part) => part)) {
    if (oid === undefined || odb.read(oid).type !== 'tree') return undefined;
    oid = findEntry(odb.content(oid, 'tree'), name)?.oid;
  }
  return oid;
}

/** The commit that gave a path what it has now, as `git log -1 -- path` finds it. */
export function lastChange(
  odb: ObjectDatabase,
  head: Oid,
  path: string,
): { readonly oid: Oid; readonly at: string } | undefined {
  let at = head;
  const now = entryAt(odb, head, path);
  if (now === undefined) return undefined;
  for (let i = 0; i < maxWalk; i++) {
    const commit = parseCommit(odb.content(at, 'commit'));
    const same = commit.parents.find(
      (parent) => odb.has(parent) && entryAt(odb, parent, path) === now,
    );
    if (same === undefined) {
      return { oid: at, at: new Date(commit.committer.seconds * 1000).toISOString() };
    }
    at = same;
  }
  return undefined;
}

/**
 * How far everything outside a folder has moved from one commit to another.
 *
 * @param folder the bank, relative to the top of the work tree.
 */
export function drift(
  odb: ObjectDatabase,
  since: Oid,
  head: Oid,
  folder: string,
  limit: number,
): Drift {
  const rest = (commit: Oid) => withoutFolder(odb, treeOf(odb, commit), folder.split('/'));
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
    // A merge brings nothing of its own unless it differs from every side.
    if (known.length > 0 && known.every((parent) => rest(parent) !== own)) commits += 1;
    queue.push(...known);
  }
  const files: string[] = [];
  const before = treeOf(odb, since);
  truncated = !changedFiles(odb, before, treeOf(odb, head), '', folder, limit, files) || truncated;
  return { commits, files, truncated };
}

/** A tree's identity with one folder left out of it. */
function withoutFolder(odb: ObjectDatabase, tree: Oid, folder: readonly string[]): string {
  const [name = '', ...below] = folder;
  const bytes = odb.content(tree, 'tree');
  const entry = findEntry(bytes, name);
  if (!entry) return tree;
  const inner = below.length === 0 ? '' : withoutFolder(odb, entry.oid, below);
  return `${spliceTree(bytes, [[name, undefined]]).toString('latin1')}${inner}`;
}

/** Collects paths that differ between two trees; false when there are more than the limit. */
function changedFiles(
  odb: ObjectDatabase,
  before: Oid | undefined,
  after: Oid | undefined,
  prefix: string,
  leaveOut: string,
  limit: number,
  found: string[],
): boolean {
  if (before === after || prefix === `${leaveOut}/`) return true;
  const entries = (oid: Oid | undefined) =>
    new Map(oid === undefined ? [] : listTree(odb.content(oid, 'tree')).map((e) => [e.name, e]));
  const old = entries(before);
  const now = entries(after);
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const a = old.get(name);
    const b = now.get(name);
    if (a?.oid === b?.oid && a?.mode === b?.mode) continue;
    const folderOf = (entry: typeof a) => (entry?.mode === folderMode ? entry.oid : undefined);
    if (folderOf(a) ?? folderOf(b)) {
      const path = `${prefix}${name}/`;
      if (!changedFiles(odb, folderOf(a), folderOf(b), path, leaveOut, limit, found)) return false;
    }
    if ((a && a.mode !== folderMode) || (b && b.mode !== folderMode)) {
      if (found.length >= limit) return false;
      found.push(prefix + name);
    }
  }
  return true;
}
