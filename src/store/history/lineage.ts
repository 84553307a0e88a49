import type { Oid } from '../../git/objects/object.ts';
import type { ChangeIndex, PathChange } from './change-index.ts';
import type { Versions } from './versions.ts';

/** The place of a record in a commit, or its last place while it existed. */
export interface Track {
  readonly path: string;
  /** Its content there; undefined after its removal. */
  readonly blob: Oid | undefined;
}

/** The same record in a parent. */
export interface Origin extends Track {
  /** The number of the parent. */
  readonly commit: number;
}

/** A commit after which a record is not as any of its parents had it, or behind which nothing is known. */
export interface Step extends Track {
  readonly commit: number;
  /** Empty for a root, undefined where a shallow clone ends. */
  readonly origins: readonly Origin[] | undefined;
}

/** Whether a commit took a record from a parent as it was. */
export function isSame(track: Track, origin: Track): boolean {
  return origin.blob === track.blob && origin.path === track.path;
}

/**
 * Where the record at a path of a commit was in each of its parents.
 *
 * @returns undefined where a shallow clone ends.
 */
export function originsOf(
  index: ChangeIndex,
  number: number,
  { path, blob }: Track,
  versions: Versions,
): Origin[] | undefined {
  if (index.isCut(number)) return undefined;
  return index.commit(number).parents.map((commit, i) => {
    const change = index.changeOf(number, i, path);
    if (!change) return { commit, path, blob };
    if (change.before !== undefined) return { commit, path, blob: change.before };
    const removed = index.changes(number, i).filter(({ after }) => after === undefined);
    const source = removed.length === 0 ? undefined : versions.sourceOf(change, removed);
    return { commit, path: source?.path ?? path, blob: source?.before };
  });
}

/** The way from a commit to its ancestors with everything that is followed there. */
export class Descent<T extends Track> {
  readonly #index: ChangeIndex;
  readonly #waiting: (readonly T[] | undefined)[];

  /** @param number the commit to begin with; its ancestors have smaller numbers. */
  constructor(index: ChangeIndex, number: number, track: T) {
    this.#index = index;
    this.#waiting = new Array(number + 1);
    this.#waiting[number] = [track];
  }

  /** The paths to follow from a commit on. */
  at(commit: number): readonly T[] {
    return this.#waiting[commit] ?? [];
  }

  add(commit: number, track: T): void {
    this.#waiting[commit] = [...this.at(commit), track];
  }

  /** Descendants first; most commits of a long history leave everything alone and are passed over. */
  *[Symbol.iterator](): Generator<readonly [commit: number, track: T]> {
    for (let commit = this.#waiting.length - 1; commit >= 0; commit--) {
      const tracks = this.#waiting[commit];
      if (!tracks) continue;
      const parent = this.#index.untouched(commit, tracks);
      if (parent !== undefined && !this.#waiting[parent]) this.#waiting[parent] = tracks;
      else for (const track of tracks) yield [commit, track];
    }
  }
}

/**
 * The commits that made a record what it is, found the way `git log -- path` finds them: where a merge
 * took the record over from one side, the other sides are left out. Unlike there, a move does not end
 * it, and all sides are looked through for a record that is gone.
 *
 * @param number the commit to begin with.
 */
export function* lineage(
  index: ChangeIndex,
  number: number,
  track: Track,
  versions: Versions,
): Generator<Step> {
  const descent = new Descent(index, number, track);
  for (const [commit, track] of descent) {
    const origins = originsOf(index, commit, track, versions);
    const same = origins?.find((origin) => isSame(track, origin));
    const known = [track, ...(origins ?? [])].some(({ blob }) => blob !== undefined);
    if (!origins || (!same && known)) yield { ...track, commit, origins };
    for (const origin of same && track.blob !== undefined ? [same] : (origins ?? [])) {
      const followed = descent.at(origin.commit).some(({ path }) => path === origin.path);
      if (!followed) descent.add(origin.commit, origin);
    }
  }
}

/** All ancestors of a commit and itself, by number. */
export function ancestors(index: ChangeIndex, number: number): readonly (true | undefined)[] {
  const found = new Array<true | undefined>(number + 1);
  found[number] = true;
  for (let commit = number; commit >= 0; commit--) {
    if (!found[commit] || index.isCut(commit)) continue;
    for (const parent of index.commit(commit).parents) found[parent] = true;
  }
  return found;
}

/** The changes in which a commit differs from every parent: for all but merges, its changes. */
export function ownChanges(index: ChangeIndex, number: number): readonly PathChange[] {
  const changes = index.changes(number, 0);
  if (changes.length === 0) return changes;
  const others = index.commit(number).parents.slice(1);
  return changes.filter(({ path }) =>
    others.every((_, i) => index.changeOf(number, i + 1, path) !== undefined),
  );
}
