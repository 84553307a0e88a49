import { MemoryError } from '../../core/values/error.ts';

/**
 * Reads numbers and ranges from a list: `1 3-5`, `1,3`, `all`.
 *
 * @param count the highest number.
 * @throws MemoryError `invalid_input` for anything else.
 */
export function chosenNumbers(given: readonly string[], count: number): readonly number[] {
  const words = given.flatMap((one) => one.split(/[\s,]+/)).filter((word) => word !== '');
  const numbers = words.flatMap((word) => {
    if (word === 'all') return Array.from({ length: count }, (_, i) => i + 1);
    const [, from = '', to = from] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(word) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === '' || first < 1 || last < first || last > count) {
      const hint = `Give numbers of the list, from 1 to ${count}: 1 3-5, or all.`;
      throw new MemoryError('invalid_input', `${JSON.stringify(word)} is not in the list.`, {
        hint,
      });
    }
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
  return [...new Set(numbers)];
}
