import type { ChangeIndex, PathChange } from './change-index.ts';

/** Where a record lies in a commit, or lay while it existed. */
export interface Track {
  readonly path: string;
  readonly present: boolean;
}

/** The same record in a parent. */
export interface Origin extends Track {
  /** The number of the parent. */
  readonly commit: number;
  readonly same: boolean;
}

/** A commit after which a record is not as any of its parents had it, or behind which nothing is known. */
export interface Step extends Track {
  readonly commit: number;
  /** Empty for a root, undefined where a shallow clone ends. */
  readonly origins: readonly Origin[] | undefined;
}

/**
 * Where a record that a commit adds was in a parent, among the paths that the commit removes.
 *
 * @returns undefined when the record is new.
 */
export type FindSource = (
  commit: number,
  parent: number,
  path: string,
  removed: readonly string[],
) => string | undefined;

/**
 * Where the record at a path of a commit was in each of its parents.
 *
 * @returns undefined where a shallow clone ends.
 */
export function originsOf(
  index: ChangeIndex,
  number: number,
  { path, present }: Track,
  findSource: FindSource,
): Origin[] | undefined {
  if (index.isCut(number)) return undefined;
  return index.commit(number).parents.map((commit, i) => {
    const change = index.changeOf(number, i, path);
    if (change === undefined) return { commit, path, present, same: true };
    if (change !== 'added') return { commit, path, present: true, same: false };
    const removed = index.changes(number, i).filter(({ change }) => change === 'removed');
    const paths = removed.map(({ path }) => path);
    const source = paths.length === 0 ? undefined : findSource(number, commit, path, paths);
    if (source === undefined) return { commit, path, present: false, same: false };
    return { commit, path: source, present: true, same: false };
  });
}

/**
 * The commits that made a record what it is, found the way `git log -- path` finds them: where a merge
 * took the record over from one side, the other sides are left out. Unlike there, a move does not end
 * it, and all sides are looked through for a record that is gone.
 *
 * @param number the commit to begin with; its ancestors have smaller numbers.
 */
export function* lineage(
  index: ChangeIndex,
  number: number,
  track: Track,
  findSource: FindSource,
): Generator<Step> {
  const waiting: (readonly Track[] | undefined)[] = [];
  waiting[number] = [track];
  for (let commit = number; commit >= 0; commit--) {
    for (const track of waiting[commit] ?? []) {
      const origins = originsOf(index, commit, track, findSource);
      const same = origins?.find((origin) => origin.same);
      const known = track.present || origins?.some((origin) => origin.present);
      if (!origins || (!same && known)) yield { ...track, commit, origins };
      const next = same && track.present ? [same] : (origins ?? []);
      for (const origin of next) add(waiting, origin);
    }
    waiting[commit] = undefined;
  }
}

function add(waiting: (readonly Track[] | undefined)[], { commit, path, present }: Origin): void {
  const others = waiting[commit] ?? [];
  if (others.some((one) => one.path === path && one.present === present)) return;
  waiting[commit] = [...others, { path, present }];
}

/** All ancestors of a commit and itself, by number. */
export function ancestors(index: ChangeIndex, number: number): readonly (true | undefined)[] {
  const found: (true | undefined)[] = [];
  found[number] = true;
  for (let commit = number; commit >= 0; commit--) {
    if (!found[commit] || index.isCut(commit)) continue;
    for (const parent of index.commit(commit).parents) found[parent] = true;
  }
  return found;
}

/** The changes in which a commit differs from every parent: for all but merges, its changes. */
export function ownChanges(index: ChangeIndex, number: number): readonly PathChange[] {
  const others = index.commit(number).parents.slice(1);
  const changes = index.changes(number, 0);
  return changes.filter(({ path }) =>
    others.every((_, i) => index.changeOf(number, i + 1, path) !== undefined),
  );
}
