import { parseAddress } from '../../core/names/record-address.ts';
import { type Commit, type Oid, parseCommit } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { confirmationsIn } from '../records/message.ts';
import { pathChanges } from './change-index.ts';
import { shownFolder } from './shown-folder.ts';

/** A commit that changed a record, or says something about it. */
export interface Touch {
  /** Its blob in the commit; undefined if the commit does not have it. */
  readonly blob: Oid | undefined;
  readonly message: string;
}

/** The records whose last change can be another one in a later state than in an earlier one. */
export interface TouchedPaths {
  /** Whether the later state follows the earlier one. */
  readonly follows: boolean;
  /** By path of the record, newest first. */
  readonly touches: ReadonlyMap<string, readonly Touch[]>;
}

/** Limit of the commits that are compared. */
const maxCommits = 200;

/**
 * Finds the records that the commits between two states touch, along the first parents of both.
 *
 * A walk for the last commit of any other record passes these commits, and is the same from both states.
 *
 * @returns undefined if the states have no common commit near them.
 */
export function touchedPaths(
  odb: ObjectDatabase,
  folder: string,
  earlier: Oid,
  later: Oid,
): TouchedPaths | undefined {
  const [after, before] = [new FirstParents(odb, later), new FirstParents(odb, earlier)];
  let met = meeting(after, before);
  for (let i = 0; i < maxCommits && met === undefined; i++) {
    const steps = [after.step(), before.step()];
    if (!steps.includes(true)) return undefined;
    met = meeting(after, before);
  }
  if (met === undefined) return undefined;
  const touches = new Map<string, Touch[]>();
  for (const [oid, commit] of [...after.until(met), ...before.until(met)]) {
    for (const [path, touch] of touchesOf(odb, folder, oid, commit)) {
      touches.set(path, [...(touches.get(path) ?? []), touch]);
    }
  }
  return { follows: met === earlier, touches };
}

function* touchesOf(
  odb: ObjectDatabase,
  folder: string,
  oid: Oid,
  { parents: [parent], message }: Commit,
): Generator<readonly [path: string, touch: Touch]> {
  const now = shownFolder(odb, oid, folder);
  const changes = pathChanges(odb, parent && shownFolder(odb, parent, folder), now);
  for (const { path, after } of changes) yield [path, { blob: after, message }];
  for (const { address } of confirmationsIn(message)) {
    yield [parseAddress(address).path, { blob: undefined, message }];
  }
}

/** A line of commits, each the first parent of the one before. */
class FirstParents {
  readonly #odb: ObjectDatabase;
  readonly #commits = new Map<Oid, Commit>();
  #next: Oid | undefined;

  constructor(odb: ObjectDatabase, start: Oid) {
    this.#odb = odb;
    this.#next = start;
  }

  /** The commit that was reached and is not read yet. */
  get tip(): Oid | undefined {
    return this.#next;
  }

  has(oid: Oid): boolean {
    return oid === this.#next || this.#commits.has(oid);
  }

  /** Goes on to the next commit; returns false at the end of the line. */
  step(): boolean {
    const oid = this.#next;
    if (oid === undefined || !this.#odb.has(oid)) return false;
    const commit = parseCommit(this.#odb.content(oid, 'commit'));
    const [parent] = commit.parents;
    if (parent === undefined) return false;
    this.#commits.set(oid, commit);
    this.#next = parent;
    return true;
  }

  /** The commits before one of the line, newest first. */
  *until(end: Oid): Generator<[Oid, Commit]> {
    for (const one of this.#commits) {
      if (one[0] === end) return;
      yield one;
    }
  }
}

/** The commit that both lines have reached. */
function meeting(one: FirstParents, other: FirstParents): Oid | undefined {
  if (one.tip !== undefined && other.has(one.tip)) return one.tip;
  return other.tip !== undefined && one.has(other.tip) ? other.tip : undefined;
}
