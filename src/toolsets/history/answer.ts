import type { CommitInfo, LoggedChange } from '../../core/memory/commit-log.ts';
import type { JsonObject, JsonValue } from '../../core/values/json.ts';
import { countWithin } from '../../core/values/size-budget.ts';

/** Maximum size of the list in an answer, in bytes: 5,000 tokens. */
export const listBudget = 20_000;
/** Maximum length of a text in a list, in characters. */
export const maxText = 600;
/** Maximum length of a difference or of a value as JSON, in characters. */
export const maxDiff = 4000;
/** Maximum number of changed records that an answer names for one commit or branch. */
const maxChanges = 10;

/** A commit in an answer; the first digits of its id are also a revision. */
export function commitAnswer(commit: CommitInfo) {
  const { oid, at, author, subject, reason, isAcceptance: _, ...trailers } = commit;
  const shown = { at, author, ...trailers, subject, ...(reason !== undefined && { reason }) };
  const texts = Object.entries(shown).map(([name, text]) => [name, cutText(text)] as const);
  return { commit: shortId(oid), ...Object.fromEntries(texts) };
}

/** The beginning of an id, long enough to stay unique in a large repository. */
export function shortId(oid: string): string {
  return oid.slice(0, 12);
}

/** The first changes of a list, and the number of the others. */
export function changesAnswer(changes: readonly LoggedChange[]) {
  const shown = changes.slice(0, maxChanges).map(({ change, path, from, fields }) => ({
    change,
    path,
    ...(from !== undefined && { from }),
    ...(fields !== undefined && { fields: [...fields] }),
  }));
  const more = changes.length - shown.length;
  return { changes: shown, ...(more > 0 && { more_changes: more }) };
}

/** The first items of a list that fit into the budget, and at least one. */
export function withinBudget<T extends JsonValue>(items: readonly T[], budget = listBudget): T[] {
  return items.slice(
    0,
    countWithin(items, budget, (item) => bytesOf(item) + 1, 1),
  );
}

/** Whether a value fits into an answer. */
export function fits(value: JsonValue): boolean {
  return bytesOf(value) <= listBudget;
}

function bytesOf(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The total of a list, and the `skip` of the next page where there is one. */
export function pageOf(skip: number, shown: number, total: number): JsonObject {
  const next = skip + shown;
  return { total, ...(next < total && shown > 0 && { next_skip: next }) };
}

/** A value, or its beginning where it is large. */
export function cutValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return cutText(value);
  const json = JSON.stringify(value);
  return json.length <= maxDiff ? value : cutText(json);
}

/** The first items of a list, and the number of the others. */
export function cutList(items: readonly JsonValue[]): JsonValue[] {
  const shown = withinBudget(items.map(cutValue), maxDiff);
  const more = items.length - shown.length;
  return more > 0 ? [...shown, `… (${more} more)`] : shown;
}

/** A difference or a line, cut at the end of a line where there is one. */
export function cutDiff(diff: string): string {
  const end = endOfPiece(diff, 0, maxDiff);
  if (end === diff.length) return diff;
  return `${diff.slice(0, end)}… (${diff.length - end} more characters)\n`;
}

/** The end of a piece of text: after a line end where there is one, and never within a character. */
export function endOfPiece(text: string, start: number, limit: number): number {
  const end = start + limit;
  if (end >= text.length) return text.length;
  const line = text.lastIndexOf('\n', end - 1) + 1;
  if (line > start) return line;
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}

/** The beginning of a long text. */
export function cutText(text: string): string {
  const points = [...text.slice(0, 2 * maxText)];
  return text.length <= maxText ? text : `${points.slice(0, maxText).join('')}…`;
}

/** Note of an answer from a shallow clone. */
export const shallowNote =
  'The clone is shallow: older commits are missing. "git fetch --unshallow" fetches them.';
