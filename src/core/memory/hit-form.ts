import type { JsonObject } from '../values/json.ts';
import { shownTitle } from '../values/shown-title.ts';
import { cautionField, reportDamaged, reportExplanation, reportLeftOut } from './answer-fields.ts';
import type { HitChange, SearchHit, SearchResult } from './search-hit.ts';
import type { SimilarRecord } from './store.ts';

/** The parts of a hit that say what the record holds, and how far to trust it. */
export type ShownHit = Pick<
  SearchHit,
  'snippet' | 'reason' | 'rejected' | 'state' | 'changed' | 'section'
>;

/** The title of a hit: that of the entry of a log, or of its record. */
export function titleOf({ entry, fields }: SearchHit): string {
  return entry ?? fields.title;
}

/** Says when a record was last changed and by whom: `2026-01-31 by claude-code (agent), verified`. */
export function changeText(change: HitChange): string {
  const { at, isLatest, by, maker, confirmed, confirmation, verifier } = change;
  if (at === undefined) return 'not committed yet';
  if (isLatest) return `${at.slice(0, 10)} or before`;
  const made = `${at.slice(0, 10)} by ${by} (${maker})`;
  if (confirmation)
    return `${made}, confirmed ${confirmation.at.slice(0, 10)} by ${confirmation.by}`;
  if (confirmed === 'review') return `${made}, confirmed by a review`;
  if (verifier) return `${made}, verified by ${verifier.by} (${verifier.maker})`;
  if (confirmed === 'verification') return `${made}, verified`;
  return maker === 'agent' ? `${made}, not confirmed` : made;
}

/** Whether no person has written or confirmed something: an agent that verifies is still an agent alone. */
export function isOfAgentAlone({ maker, confirmed, verifier }: HitChange): boolean {
  if (maker !== 'agent' || confirmed === 'review' || confirmed === 'person') return false;
  return verifier === undefined || verifier.maker === 'agent';
}

/** The state of a hit and its last change, on one line; empty if nothing is known. */
export function standing({ state, changed }: ShownHit): string {
  return [state, changed && changeText(changed)].filter((one) => one !== undefined).join(' · ');
}

/** The reason and the rejected alternatives of a hit, each with its label: `not chosen: Postgres`. */
export function besides({ reason, rejected }: ShownHit): string[] {
  return [reason, rejected].flatMap((one) => (one ? [`${one.label}: ${one.text}`] : []));
}

/** A hit as a text of several lines, without its title. */
export function hitText(hit: ShownHit): string {
  // The heading of a decision often is the answer.
  const lines = [hit.section ?? '', standing(hit), hit.snippet, ...besides(hit)];
  return lines.filter((line) => line !== '').join('\n');
}

/**
 * The answer of a hit on one line, with its title unless the answer has it; undefined without an answer.
 *
 * @param title empty for an answer whose title is that of several.
 */
export function answerLine(title: string, { snippet }: ShownHit): string | undefined {
  if (snippet === title || snippet === '') return undefined;
  return snippet.includes(title) ? snippet : `${shownTitle(title)}: ${snippet}`;
}

/** Makes the field `similar` of an answer about a written record, or nothing if there is no such record. */
export function similarField(similar: readonly SimilarRecord[]): { similar?: JsonObject[] } {
  if (similar.length === 0) return {};
  return {
    similar: similar.map(({ changed, ...one }) => ({
      ...one,
      ...(changed && { changed: changeText(changed) }),
    })),
  };
}

/** Makes one result of a search. */
export function reportHit(hit: SearchHit) {
  const { type, category } = hit.fields;
  const { reason, rejected, state, changed } = hit;
  return {
    toolset: hit.type.toolset,
    record: hit.type.name,
    ...(type !== undefined && { type }),
    ...(category !== undefined && { category }),
    key: hit.key,
    title: shownTitle(titleOf(hit)),
    path: hit.path,
    score: hit.score,
    matches: [...hit.matches],
    ...(changed && { changed: changeText(changed) }),
    ...(state !== undefined && { state }),
    snippet: hit.snippet,
    ...(reason && { reason: reason.text }),
    ...(rejected && { [rejected.label.replaceAll(' ', '_')]: rejected.text }),
    ...(hit.section !== undefined && { section: hit.section }),
    ...(hit.lines && { lines: [...hit.lines] }),
    ...(hit.also && { also: [...hit.also] }),
    ...(hit.later !== undefined && { later: hit.later }),
    ...cautionField(hit.caution),
    ...(hit.explanation && { explain: reportExplanation(hit.explanation) }),
  };
}

/**
 * Makes the answer of a search: results with their paths, and whether there are more.
 *
 * @param offset the number of hits that were left out before the first one.
 */
export function reportSearch(result: SearchResult, offset = 0) {
  const { hits, total, damaged } = result;
  const results = hits.map(reportHit);
  const truncated = total > offset + results.length;
  return { results, total, truncated, ...reportDamaged(damaged), ...reportLeftOut(result) };
}
