import type { JsonValue } from './json.ts';

/** The size of a value as JSON. */
export function sizeOf(value: JsonValue): number {
  return JSON.stringify(value).length;
}

export function sum(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all + size, 0);
}

/** Returns the size that no item may exceed, so that all items together have the size `room`. */
export function roomOfEach(sizes: readonly number[], room: number): number {
  let [left, items] = [room, sizes.length];
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size > left / items) break;
    left -= size;
    items -= 1;
  }
  return items === 0 ? room : left / items;
}

/**
 * Returns how many items from the start of a list fit into a budget.
 *
 * @param least that many count as fitting, however large they are.
 */
export function countWithin<T>(
  items: readonly T[],
  budget: number,
  size: (item: T) => number,
  least = 0,
): number {
  let left = budget;
  const end = items.findIndex((item, i) => {
    left -= size(item);
    return left < 0 && i >= least;
  });
  return end < 0 ? items.length : end;
}
