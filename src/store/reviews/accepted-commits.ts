import { monotonicTime } from '../../core/timing/clock.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { pacer } from '../history/change-index.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { isAcceptance } from '../records/message.ts';

/** Limit of the commits that are looked at, and the time after which the walk ends, in milliseconds. */
const maxLooked = 5_000;
const maxTime = 300;

/** A commit of the walk. */
interface Met {
  readonly oid: Oid;
  readonly time: number;
  readonly parents: readonly Oid[];
  /** Whether a person accepted something with it. */
  readonly accepts: boolean;
  /** Whether it came into the history only with commits by which a person accepted it. */
  isAccepted: boolean;
  isWaiting: boolean;
}

/**
 * Returns those of some commits that a person has accepted, and those by which a person accepted others.
 *
 * A merge that accepts a review has the memory as its first parent and what was accepted behind the
 * others. A commit that HEAD also has in another way does not count as accepted: nobody may have seen
 * it. Nor does any where the walk is too long to tell.
 */
export async function acceptedCommits(
  reader: HistoryReader,
  head: Oid,
  wanted: ReadonlySet<Oid>,
): Promise<ReadonlySet<Oid>> {
  const pause = pacer(reader.rights.signal);
  const began = monotonicTime();
  const { odb } = reader.history.repository;
  const met = new Map<Oid, Met>();
  // The newest is last, so that it is cheap to take.
  const waiting: Met[] = [];
  const read = (oid: Oid, isAccepted: boolean): Met => {
    const { committer, parents, message } = parseCommit(odb.content(oid, 'commit'));
    const accepts = isAcceptance(message);
    return { oid, time: committer.seconds, parents, accepts, isAccepted, isWaiting: false };
  };
  const reach = (oid: Oid, isAccepted: boolean) => {
    const known = met.get(oid);
    if (known && (isAccepted || !known.isAccepted)) return;
    const commit = known ?? read(oid, isAccepted);
    commit.isAccepted = isAccepted;
    met.set(oid, commit);
    if (commit.isWaiting) return;
    commit.isWaiting = true;
    // Before those of the same second, so that a parent comes after all its children.
    const at = waiting.findIndex(({ time }) => time >= commit.time);
    waiting.splice(at < 0 ? waiting.length : at, 0, commit);
  };
  const left = new Set(wanted);
  let oldest = Number.POSITIVE_INFINITY;
  reach(head, false);
  for (let looked = 0; ; looked++) {
    const commit = waiting.pop();
    // Another child of a commit that was met may have been made in the same second.
    if (!commit || (left.size === 0 && commit.time < oldest)) break;
    if (looked >= maxLooked || monotonicTime() - began > maxTime) return new Set();
    commit.isWaiting = false;
    if (left.delete(commit.oid)) oldest = Math.min(oldest, commit.time);
    if (!reader.history.endsAt(commit.oid)) {
      for (const [at, parent] of commit.parents.entries()) {
        reach(parent, commit.isAccepted || (commit.accepts && at > 0));
      }
    }
    await pause();
  }
  const isFound = (oid: Oid) => met.get(oid)?.isAccepted || met.get(oid)?.accepts;
  return new Set([...wanted].filter(isFound));
}
