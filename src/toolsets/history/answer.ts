import type { Change, CommitInfo } from '../../core/history.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';

/** How many bytes the list in an answer may take: 5,000 tokens. */
const listBudget = 20_000;
/** Longer texts within a list are cut. */
const maxText = 600;
/** Longer differences are cut, and values that take more bytes. */
const maxDiff = 4000;
/** At most this many of the records that one commit or branch changes are named. */
const maxChanges = 10;

/** A commit as every answer tells of it; the first digits of its id are a revision too. */
export function tellCommit({ oid, at, author, subject, reason, ...trailers }: CommitInfo) {
  const told = { at, author, ...trailers, subject, ...(reason !== undefined && { reason }) };
  const texts = Object.entries(told).map(([name, text]) => [name, cutText(text)] as const);
  return { commit: shortId(oid), ...Object.fromEntries(texts) };
}

/** As much of an id as tells it from others, for a long time to come. */
export function shortId(oid: string): string {
  return oid.slice(0, 12);
}

/** Changes by path, the first ones of many. */
export function tellChanges(
  changes: readonly (Change & { readonly fields?: readonly string[] })[],
) {
  const told = changes.slice(0, maxChanges).map(({ change, path, from, fields }) => ({
    change,
    path,
    ...(from !== undefined && { from }),
    ...(fields !== undefined && { fields: [...fields] }),
  }));
  const more = changes.length - told.length;
  return { changes: told, ...(more > 0 && { more_changes: more }) };
}

/** The first items of a list, as many as the budget has room for, and at least one. */
export function withinBudget<T extends JsonValue>(items: readonly T[], budget = listBudget): T[] {
  let left = budget;
  const end = items.findIndex((item, i) => {
    left -= Buffer.byteLength(JSON.stringify(item)) + 1;
    return left < 0 && i > 0;
  });
  return end < 0 ? [...items] : items.slice(0, end);
}

/** Whether something fits into an answer. */
export function fits(value: JsonValue): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= listBudget;
}

/** What to say of a list that goes on: with which `skip` to ask for the rest. */
export function pageOf(skip: number, shown: number, total: number): JsonObject {
  const next = skip + shown;
  return { total, ...(next < total && shown > 0 && { next_skip: next }) };
}

/** A value as it is, or the beginning of it where it is large. */
export function cutValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return cutText(value);
  const json = JSON.stringify(value);
  return json.length <= maxDiff ? value : cutText(json);
}

/** The first items of a list, and how many more there are. */
export function cutList(items: readonly JsonValue[]): JsonValue[] {
  const told = withinBudget(items.map(cutValue), maxDiff);
  const more = items.length - told.length;
  return more > 0 ? [...told, `… (${more} more)`] : told;
}

/** A difference or a line, cut at the end of a line where there is one. */
export function cutDiff(diff: string): string {
  const end = endOfPiece(diff, 0, maxDiff);
  if (end === diff.length) return diff;
  return `${diff.slice(0, end)}… (${diff.length - end} more characters)\n`;
}

/** Where a piece of a text ends that is given at once: behind a line, else not within a character. */
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

/** What an answer says where older commits are missing. */
export const shallowNote =
  'The clone is shallow: older commits are not here. "git fetch --unshallow" brings them.';
