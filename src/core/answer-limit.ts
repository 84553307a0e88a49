import { isObject, type JsonObject, type JsonValue } from './json.ts';

/**
 * Maximum size of an answer for a model, in characters of its JSON: about 15,000 tokens.
 *
 * A client that gets more shows none of it: the limit of Claude Code is 25,000 tokens.
 */
export const maxAnswer = 60_000;

/** The lists of an answer that can grow, and how the rest of each is asked for. */
export interface GrowingLists {
  /** `{offset}` stands for the number of items that the answer has passed. */
  readonly [list: string]: string;
}

/** An answer that fits, and the sentence about the items that were left out. */
export interface LimitedAnswer {
  readonly value: JsonObject;
  readonly note: string | undefined;
}

/** The list of damaged records, which any answer can have. */
const always: GrowingLists = { damaged: '"memory-bank check" reports all' };

/**
 * Shortens the growing lists of an answer until it fits.
 *
 * Items are left out at the end of a list, and never all of them. A short list stays whole: the longest
 * lists are shortened first. An item is never cut, because an agent could write it back. The key
 * `left_out` of the answer counts the items.
 *
 * @param offset the number of items that the caller has skipped.
 */
export function limitAnswer(
  value: JsonObject,
  lists: GrowingLists = {},
  offset = 0,
  limit = maxAnswer,
): LimitedAnswer {
  const over = sizeOf(value) - limit;
  if (over <= 0) return { value, note: undefined };
  const ways = { ...always, ...lists };
  const grown = Object.keys(ways).flatMap((name) => {
    const items = value[name];
    return Array.isArray(items)
      ? { name, items, sizes: items.map((item) => sizeOf(item) + 1) }
      : [];
  });
  const total = grown.reduce((all, { sizes }) => all + sum(sizes), 0);
  const room = roomOfEach(
    grown.map(({ sizes }) => sum(sizes)),
    Math.max(0, total - over - reserve),
  );
  const short: JsonObject = { ...value };
  const left_out: JsonObject = {};
  const sentences: string[] = [];
  for (const { name, items, sizes } of grown) {
    const kept = countWithin(sizes, room);
    const rest = items.length - kept;
    if (rest === 0) continue;
    short[name] = items.slice(0, kept);
    left_out[name] = rest;
    const way = (ways[name] ?? '').replace('{offset}', String(offset + kept));
    sentences.push(`${rest} more ${name} do not fit into this answer: ${way}.`);
  }
  if (sentences.length === 0) return { value, note: undefined };
  return { value: { ...short, left_out }, note: sentences.join(' ') };
}

/** Characters kept for the key `left_out`. */
const reserve = 200;

/** Returns the size that no list may exceed, so that all lists together have the size `room`. */
function roomOfEach(sizes: readonly number[], room: number): number {
  let [left, lists] = [room, sizes.length];
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size > left / lists) break;
    left -= size;
    lists -= 1;
  }
  return lists === 0 ? room : left / lists;
}

/** Returns how many items from the start fit, at least one. */
function countWithin(sizes: readonly number[], room: number): number {
  let left = room;
  const end = sizes.findIndex((size, i) => {
    left -= size;
    return left < 0 && i > 0;
  });
  return end < 0 ? sizes.length : end;
}

function sizeOf(value: JsonValue | undefined): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all + size, 0);
}

/** Returns the number of skipped items in the arguments of a call. */
export function offsetOf(args: unknown): number {
  return isObject(args) && typeof args.offset === 'number' ? args.offset : 0;
}
