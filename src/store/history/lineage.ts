import type { Oid } from '../../git/objects/object.ts';
import type { ChangeIndex, PathChange } from './change-index.ts';
import type { Versions } from './versions.ts';

/** The path of a record in a commit, or its last path before its removal. */
export interface Track {
  readonly path: string;
  /** Its content in that commit; undefined after its removal. */
  readonly blob: Oid | undefined;
}

/** The same record in a parent. */
export interface Origin extends Track {
  /** The number of the parent. */
  readonly commit: number;
}

/** A commit in which a record differs from every parent, or at which a shallow clone ends. */
export interface Step extends Track {
  readonly commit: number;
  /** Empty for a root commit; undefined at the end of a shallow clone. */
  readonly origins: readonly Origin[] | undefined;
}

/** Whether a commit has a record unchanged from a parent. */
export function isSame(track: Track, origin: Track): boolean {
  return origin.blob === track.blob && origin.path === track.path;
}

/**
 * Finds the record at a path of a commit in each of its parents.
 *
 * @returns undefined at the end of a shallow clone.
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
    const removed = index.removals(number, i);
    const source = removed.length === 0 ? undefined : versions.sourceOf(change, removed);
    return { commit, path: source?.path ?? path, blob: source?.before };
  });
}

/** The walk from a commit to its ancestors, with the records that are followed in each commit. */
export class Descent<T extends Track> {
  readonly #index: ChangeIndex;
  readonly #waiting: (readonly T[] | undefined)[];

  /** @param number the commit to begin with; its ancestors have smaller numbers. */
  constructor(index: ChangeIndex, number: number, track: T) {
    this.#index = index;
    this.#waiting = new Array(number + 1);
    this.#waiting[number] = [track];
  }

  /** The records to follow from a commit on. */
  at(commit: number): readonly T[] {
    return this.#waiting[commit] ?? [];
  }

  add(commit: number, track: T): void {
    this.#waiting[commit] = [...this.at(commit), track];
  }

  /** Descendants first. Commits that change no followed record, most of a history, are skipped. */
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
 * Finds the commits that changed a record, as `git log -- path` does.
 *
 * If a merge took the record from one side, the other sides are left out. Unlike `git log`, it follows
 * moves, and it follows all sides for a record that was removed.
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

/** Marks a commit and all its ancestors, by number. */
export function ancestors(index: ChangeIndex, number: number): readonly (true | undefined)[] {
  const found = new Array<true | undefined>(number + 1);
  found[number] = true;
  for (let commit = number; commit >= 0; commit--) {
    if (!found[commit] || index.isCut(commit)) continue;
    for (const parent of index.commit(commit).parents) found[parent] = true;
  }
  return found;
}

/** The changes in which a commit differs from every parent; all its changes unless it is a merge. */
export function ownChanges(index: ChangeIndex, number: number): readonly PathChange[] {
  const changes = index.changes(number, 0);
  if (changes.length === 0) return changes;
  const others = index.commit(number).parents.slice(1);
  return changes.filter(({ path }) =>
    others.every((_, i) => index.changeOf(number, i + 1, path) !== undefined),
  );
}
