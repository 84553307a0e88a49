import type { JsonObject, JsonValue } from './json.ts';
import { roomOfEach, sizeOf, sum } from './size-budget.ts';

/** Says how the rest of a text is asked for. */
export type RestOfText = (kept: number) => string;

/** A shorter text is never cut, in characters. */
const shortest = 4_000;
/** Characters kept for the line at the end of a cut text. */
const lineSize = 600;

/** The line at the end of a cut text, in any text that contains it. */
const cutLine = /^\[memory-bank: \d+ of \d+ characters are left out here\b/m;

/** Whether a text ends where an answer was cut, so that it must not replace the whole one. */
export function isCutText(text: string): boolean {
  return text.includes('[memory-bank: ') && cutLine.test(text);
}

/**
 * Returns the beginning of a text that fits into a number of characters of JSON, and a last line that says
 * how much was left out. The text is cut at the end of a line where there is one.
 */
export function cutText(text: string, room: number, rest: RestOfText): string {
  if (sizeOf(text) <= room) return text;
  const kept = endOfLine(text, fitting(text, Math.max(room - lineSize, 1)));
  const begin = text.slice(0, kept);
  const gap = begin.endsWith('\n') ? '' : '\n';
  const left = text.length - kept;
  return `${begin}${gap}[memory-bank: ${left} of ${text.length} characters are left out here. ${rest(kept)}]`;
}

/** Cuts the longest texts of a value until it has at most `limit` characters as JSON. */
export function cutLongTexts(value: JsonObject, limit: number, rest: RestOfText): JsonObject {
  const over = sizeOf(value) - limit;
  if (over <= 0) return value;
  const sizes = [...textsOf(value)].map(sizeOf).filter((size) => size > shortest);
  const room = Math.max(shortest, roomOfEach(sizes, sum(sizes) - over));
  const cut = (one: JsonValue): JsonValue => {
    if (typeof one === 'string') return cutText(one, room, rest);
    if (Array.isArray(one)) return one.map(cut);
    return one === null || typeof one !== 'object' ? one : cutIn(one);
  };
  const cutIn = (one: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(one).map(([key, item]) => [key, item === undefined ? item : cut(item)]),
    );
  return cutIn(value);
}

function* textsOf(value: JsonValue | undefined): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) yield* textsOf(item);
  }
}

/** Characters of a text that fit into a number of characters of JSON, where some are escaped. */
function fitting(text: string, room: number): number {
  let [low, high] = [0, Math.min(text.length, room)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sizeOf(text.slice(0, middle)) <= room) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The end of the last line before an offset, if it is near; a pair of surrogates stays whole. */
function endOfLine(text: string, at: number): number {
  const line = text.lastIndexOf('\n', at - 1) + 1;
  if (line > at / 2) return line;
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
