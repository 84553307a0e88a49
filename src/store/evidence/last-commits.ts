import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { type ObjectDatabase, treeOf } from '../../git/objects/odb.ts';
import { type ChangeIndex, type PathChange, pathChanges } from '../history/change-index.ts';
import type { Steps } from '../records/slices.ts';

/** Commits with their parents, and the paths that differ between both. */
export interface CommitGraph<C> {
  parents(commit: C): readonly C[];
  /** Whether a shallow clone ends at a commit. */
  isCut(commit: C): boolean;
  /** The changes of the paths of a map by a commit, compared with one of its parents. */
  changesOf(commit: C, parent: number, paths: ReadonlyMap<string, unknown>): readonly PathChange[];
  /** The changes of paths that a commit removes. */
  removals(commit: C, parent: number): readonly PathChange[];
  /** Whether a change of a path does not count for one of the keys. */
  ignores?(change: PathChange, key: string): boolean;
  /** A number that is larger for descendants. */
  order(commit: C): number;
  /** Limit of commits that one search reads. */
  readonly limit: number;
}

/** The last commit that changed a path. */
export interface LastCommit<C> {
  readonly commit: C;
  /** Whether an older commit may have changed it instead, because a shallow clone ends here. */
  readonly cut: boolean;
}

/** Paths in a commit, each with the keys of the searches that have reached it. */
type Pending = Map<string, readonly string[]>;

/** The history of the memory by its index. */
export function indexGraph(index: ChangeIndex): CommitGraph<number> {
  return {
    parents: (commit) => index.commit(commit).parents.filter((parent) => parent >= 0),
    isCut: (commit) => index.isCut(commit),
    changesOf: (commit, parent, paths) => index.changesOf(commit, parent, paths),
    removals: (commit, parent) => index.removals(commit, parent),
    order: (commit) => commit,
    limit: Number.POSITIVE_INFINITY,
  };
}

/** Limits of the changes that stay in memory for further walks: commits, and paths of one of them. */
const maxKept = { commits: 20_000, paths: 500 };

/** The history of the whole repository; walks of one graph share the changes that they have read. */
export function codeGraph(odb: ObjectDatabase): CommitGraph<Oid> {
  const read = (commit: Oid) => parseCommit(odb.content(commit, 'commit'));
  const parents = (commit: Oid) => read(commit).parents.filter((parent) => odb.has(parent));
  const known = new Map<string, readonly PathChange[]>();
  const changes = (commit: Oid, parent: number) => {
    const key = `${commit} ${parent}`;
    const kept = known.get(key);
    if (kept) return kept;
    const before = parents(commit)[parent];
    const changes = pathChanges(odb, before && treeOf(odb, before), treeOf(odb, commit));
    if (changes.length <= maxKept.paths && known.size < maxKept.commits) known.set(key, changes);
    return changes;
  };
  return {
    parents,
    isCut: (commit) => read(commit).parents.length > parents(commit).length,
    changesOf: (commit, parent, paths) =>
      changes(commit, parent).filter(({ path }) => paths.has(path)),
    removals: (commit, parent) =>
      changes(commit, parent).filter(({ after }) => after === undefined),
    order: (commit) => read(commit).committer.seconds,
    limit: 5000,
  };
}

/** Searches for the last commits of paths, each with its path as its key. */
export function keyedByPath(paths: Iterable<string>): Iterable<readonly [string, string]> {
  return [...paths].map((path) => [path, path] as const);
}

/**
 * Finds the last commit that changed each path, as `git log -1 -- path`, by one walk for all of them. A
 * file that a commit only moves is followed to its earlier path.
 *
 * @param searches a key of each search, and its path; several searches can have the same path.
 */
export function* lastCommits<C>(
  graph: CommitGraph<C>,
  head: C,
  searches: Iterable<readonly [key: string, path: string]>,
): Steps<ReadonlyMap<string, LastCommit<C>>> {
  const found = new Map<string, LastCommit<C>>();
  const frontier = new Map<C, Pending>();
  const first: Pending = new Map();
  for (const [key, path] of searches) first.set(path, [...(first.get(path) ?? []), key]);
  frontier.set(head, first);
  for (let read = 0; frontier.size > 0 && read < graph.limit; read++) {
    const commit = newest(graph, frontier.keys());
    if (commit === undefined) break;
    const pending: Pending = frontier.get(commit) ?? new Map();
    frontier.delete(commit);
    if (pending.size === 0) continue;
    const end = (keys: readonly string[]) => {
      for (const key of keys) found.set(key, { commit, cut: graph.isCut(commit) });
    };
    const parents = graph.parents(commit);
    let rest = pending;
    for (const [i, parent] of parents.entries()) {
      const changed: Pending = new Map();
      for (const change of graph.changesOf(commit, i, rest)) {
        const keys = rest.get(change.path) ?? [];
        const ignored = keys.filter((key) => graph.ignores?.(change, key));
        if (ignored.length < keys.length) {
          const counted = ignored.length === 0 ? keys : keys.filter((k) => !ignored.includes(k));
          changed.set(change.path, counted);
        }
        if (ignored.length === 0) rest.delete(change.path);
        else rest.set(change.path, ignored);
      }
      follow(frontier, parent, rest);
      rest = changed;
    }
    const [parent] = parents;
    const sources = rest.size > 0 && parent !== undefined ? moves(graph, commit, rest) : noMoves;
    for (const [path, keys] of rest) {
      const source = sources.get(path);
      if (source === undefined || parent === undefined) end(keys);
      else follow(frontier, parent, new Map([[source, keys]]));
    }
    yield;
  }
  return found;
}

const noMoves: ReadonlyMap<string, string> = new Map();

/** The files that a commit moves without a change: the earlier path by the new one. */
function moves<C>(
  graph: CommitGraph<C>,
  commit: C,
  paths: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, string> {
  const removed = new Map<Oid, string>();
  for (const { path, before } of graph.removals(commit, 0)) {
    if (before !== undefined) removed.set(before, path);
  }
  if (removed.size === 0) return noMoves;
  return new Map(
    graph.changesOf(commit, 0, paths).flatMap(({ path, before, after }) => {
      const source = before === undefined && after !== undefined ? removed.get(after) : undefined;
      return source === undefined ? [] : [[path, source] as const];
    }),
  );
}

/** Adds the paths to those that are followed in a commit; the larger of both maps is kept. */
function follow<C>(frontier: Map<C, Pending>, commit: C, paths: Pending): void {
  const known = frontier.get(commit);
  if (paths.size === 0) return;
  const [large, small] =
    known === undefined || known.size < paths.size ? [paths, known] : [known, paths];
  for (const [path, keys] of small ?? []) {
    large.set(path, [...(large.get(path) ?? []), ...keys]);
  }
  frontier.set(commit, large);
}

/** The commit that no other one of them can descend from; there are as many as lines of history. */
function newest<C>(graph: CommitGraph<C>, commits: Iterable<C>): C | undefined {
  let best: C | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const commit of commits) {
    const order = graph.order(commit);
    if (order > highest) [best, highest] = [commit, order];
  }
  return best;
}
