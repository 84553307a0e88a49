/** The number of each item, as `Uint32Array.from` returns them, which takes several times as long. */
export function numbersOf<T>(items: readonly T[], numberOf: (item: T) => number): Uint32Array {
  const numbers = new Uint32Array(items.length);
  for (let at = 0; at < items.length; at++) numbers[at] = numberOf(items[at] as T);
  return numbers;
}
