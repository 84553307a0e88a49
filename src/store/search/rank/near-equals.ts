import { haveLikeTexts, haveOneTitle, haveSureTitle, type Subject } from './subject.ts';

/** Scores of hits whose titles, or whose texts, have one subject are about equal from this share on. */
const titleShare = 0.85;
const textShare = 0.6;
/** A later hit on the subject that is worse than that, but not by more, is only named. */
const laterShare = 0.5;
/** Number of the first hits whose titles are compared, and of those whose texts are compared also. */
const mostCompared = 50;
const mostTexts = 10;

/** A hit before its text is chosen. */
export interface HitCandidate {
  readonly id: string;
  /** 0 to 1. */
  readonly score: number;
  /** When it was last changed, in a form that sorts by time; undefined if the record does not say so. */
  readonly at: string | undefined;
  /** Whether its title is the query. */
  readonly isNamed: boolean;
  readonly subject: () => Subject;
}

/** A candidate in its place. */
export interface PlacedHit<T extends HitCandidate> {
  readonly candidate: T;
  readonly score: number;
  /** Finds a later hit on the same subject that follows. */
  readonly findLater: () => T | undefined;
  /** A number that about equally good hits on one subject have in common; undefined for a single one. */
  readonly group: number | undefined;
}

/**
 * Puts the newest first among hits that are about equally good and on one subject.
 *
 * The hits of a group change places among themselves; all others stay where they are.
 *
 * @param candidates the best first.
 */
export function newestFirst<T extends HitCandidate>(candidates: readonly T[]): PlacedHit<T>[] {
  const order = [...candidates];
  const compared = Math.min(order.length, mostCompared);
  const grouped = new Map<T, number | undefined>();
  for (let at = 0; at < compared; at++) {
    const leader = order[at];
    if (!leader || grouped.has(leader) || leader.at === undefined) continue;
    const places = [at];
    for (let next = at + 1; next < compared; next++) {
      const other = candidates[next];
      if (!other || other.score < laterShare * leader.score) break;
      const one = order[next];
      if (!one || one.score < textShare * leader.score || grouped.has(one)) continue;
      const isLike =
        (one.score >= titleShare * leader.score && haveSubject(leader, one)) ||
        (next < mostTexts && haveSubject(leader, one, haveLikeTexts));
      if (isLike) places.push(next);
    }
    grouped.set(leader, undefined);
    if (places.length === 1) continue;
    const group = places.flatMap((place) => order[place] ?? []);
    group.sort((a, b) => (a.at === b.at ? 0 : (a.at ?? '') < (b.at ?? '') ? 1 : -1));
    for (const [index, place] of places.entries()) {
      const one = group[index];
      if (!one) continue;
      order[place] = one;
      grouped.set(one, at);
    }
  }
  const first = order.slice(0, compared);
  const ranks = ranksByTime(first);
  return order.map((candidate, index) => ({
    candidate,
    score: candidates[index]?.score ?? candidate.score,
    findLater: () => laterThan(candidate, index, first, ranks),
    group: grouped.get(candidate),
  }));
}

/** The order of some hits by time, in which equal times have equal numbers; 0 for one without a time. */
function ranksByTime(hits: readonly HitCandidate[]): readonly number[] {
  const times = [...new Set(hits.map(({ at = '' }) => at))].sort();
  const ranks = new Map(times.map((time, rank) => [time, rank + 1]));
  return hits.map(({ at }) => (at === undefined ? 0 : (ranks.get(at) ?? 0)));
}

/** The newest hit after a place in the order that is later than the one there, and on its subject. */
function laterThan<T extends HitCandidate>(
  one: T,
  place: number,
  order: readonly T[],
  ranks: readonly number[],
): T | undefined {
  let found: T | undefined;
  let newest = ranks[place] ?? 0;
  for (let at = place + 1; newest > 0 && at < order.length; at++) {
    const other = order[at];
    if (!other || other.score < laterShare * one.score) break;
    const rank = ranks[at] ?? 0;
    // A later one that is only named may lack a word that the query asks for.
    if (rank > newest && haveSubject(one, other, haveSureTitle)) [found, newest] = [other, rank];
  }
  return found;
}

function haveSubject(one: HitCandidate, other: HitCandidate, isLike = haveOneTitle): boolean {
  if (one.at === undefined || other.at === undefined) return false;
  // Nothing else is as good as the hit that the query names.
  return one.isNamed === other.isNamed && isLike(one.subject(), other.subject());
}
