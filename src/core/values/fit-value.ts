import { cutText, type RestOfText } from './cut-text.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { countWithin, roomOfEach, sizeOf, sum } from './size-budget.ts';

/** A member of an object gets at least this room, in characters, or the last members are left out. */
const least = 700;

/** A value that fits, and how many items of its lists and objects were left out, by their key. */
export interface FittedValue {
  readonly value: JsonObject;
  readonly leftOut: ReadonlyMap<string, number>;
}

/**
 * Shortens the lists, objects and texts of a value, at any depth, until it fits.
 *
 * @param complete the keys of members that stay whole.
 */
export function fitValue(
  value: JsonObject,
  limit: number,
  rest: RestOfText,
  complete: readonly string[] = [],
): FittedValue {
  const leftOut = new Map<string, number>();
  if (sizeOf(value) <= limit) return { value, leftOut };
  const leave = (name: string, count: number) => {
    if (count > 0) leftOut.set(name, (leftOut.get(name) ?? 0) + count);
  };
  const shorten = (one: JsonValue, room: number, name: string): JsonValue => {
    if (one === null || typeof one !== 'object' || sizeOf(one) <= room) {
      return typeof one === 'string' ? cutText(one, room, rest) : one;
    }
    return Array.isArray(one) ? shortenList(one, room, name) : shortenObject(one, room, name);
  };
  const shortenList = (list: readonly JsonValue[], room: number, name: string): JsonValue[] => {
    const sizes = list.map((item) => sizeOf(item) + 1);
    const kept = countWithin(sizes, room, (size) => size, 1);
    leave(name, list.length - kept);
    return list.slice(0, kept).map((item) => shorten(item, room, name));
  };
  const shortenObject = (object: JsonObject, room: number, name: string): JsonObject => {
    const members = Object.entries(object).flatMap(([key, item]) =>
      item === undefined ? [] : [{ key, item, size: sizeOf(item), own: sizeOf(key) + 2 }],
    );
    const smallest = members.map(({ size, own }) => Math.min(size, least) + own);
    const kept = members.slice(
      0,
      countWithin(smallest, room, (size) => size),
    );
    leave(name, members.length - kept.length);
    const share = roomOfEach(
      kept.map(({ size }) => size),
      room - sum(kept.map(({ own }) => own)) - 2,
    );
    return Object.fromEntries(kept.map(({ key, item }) => [key, shorten(item, share, key)]));
  };
  const whole = Object.fromEntries(Object.entries(value).filter(([key]) => complete.includes(key)));
  const others = Object.fromEntries(
    Object.entries(value).filter(([key]) => !complete.includes(key)),
  );
  const fitted = shortenObject(others, Math.max(limit - sizeOf(whole), least), 'fields');
  return { value: { ...fitted, ...whole }, leftOut };
}
