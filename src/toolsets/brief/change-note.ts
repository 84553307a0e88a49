import { changeText, isOfAgentAlone } from '../../core/memory/hit-form.ts';
import type { HitChange } from '../../core/memory/search-hit.ts';
import { oneLine } from './layout.ts';

/** Longest name of a person or agent, in characters: a client gives itself any name. */
const longestName = 60;

/** The last change as a search says it, on one line. */
export function changeIn(changed: HitChange): string {
  const { by, verifier } = changed;
  const named = verifier && { verifier: { ...verifier, by: shortName(verifier.by) } };
  return changeText({ ...changed, by: shortName(by), ...named });
}

/**
 * The last change of a statement, in brackets.
 *
 * @param at the day that the statement gives itself; it is also shown if it is another one.
 */
export function changeNote(changed: HitChange | undefined, at: string | undefined): string {
  const day = at?.slice(0, 10);
  if (!changed) return day === undefined ? '' : ` (${day})`;
  const isOther = day !== undefined && day !== changed.at?.slice(0, 10);
  return ` (${isOther ? `of ${day} · ` : ''}${changeIn(changed)})`;
}

/** Whether a person is known to have written or confirmed something. */
export function isTrusted(changed: HitChange | undefined): boolean {
  return changed !== undefined && !isOfAgentAlone(changed);
}

/** Puts what a person has written or confirmed before the rest. */
export function trustedFirst<T extends { readonly changed?: HitChange | undefined }>(
  items: readonly T[],
): T[] {
  return items.toSorted((a, b) => Number(isTrusted(b.changed)) - Number(isTrusted(a.changed)));
}

function shortName(name: string): string {
  const points = [...oneLine(name)];
  return points.length <= longestName
    ? points.join('')
    : `${points.slice(0, longestName).join('')}…`;
}
