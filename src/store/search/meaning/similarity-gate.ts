import { tableDimensions } from './packed-vector.ts';
import type { WordTable } from './word-table.ts';

/** Similarity below this one is chance. */
const leastSimilar = 0.2;
/**
 * Only similarity that is this many standard deviations above the average counts. Of more records, more are that
 * similar by chance: each doubling above `usualRecords` adds a part.
 */
const leastSpread = 0.5;
const addedSpread = 0.25;
const usualRecords = 32;
/**
 * The similarity of a query to a text about software: on average it grows with that to the usual text. Measured
 * over the development questions of the bench.
 */
const usualBase = 0.05;
const usualGrowth = 1.15;
const usualSpread = 0.1;
/** With this many records, their own average counts as much as the usual one; with ten, it decides. */
const fewRecords = 3;

/**
 * Returns the similarity above which a record counts as similar to a query.
 *
 * @param similarities by the number of the record.
 * @param rated the numbers of the records.
 * @param asked the vector of the query.
 */
export function leastCounted(
  similarities: Float64Array,
  rated: readonly number[],
  asked: Float64Array,
  { usual }: WordTable,
): number {
  let sum = 0;
  let squares = 0;
  for (let at = 0; at < rated.length; at++) {
    const value = similarities[rated[at] as number] as number;
    sum += value;
    squares += value * value;
  }
  const { length } = rated;
  const own = length === 0 ? 0 : sum / length;
  const variance = length === 0 ? 0 : Math.max(0, squares / length - own * own);
  let expected = usualBase;
  for (let at = 0; at < tableDimensions; at++) {
    expected += usualGrowth * (asked[at] as number) * (usual[at] ?? 0);
  }
  const share = 1 / (1 + (length / fewRecords) ** 2);
  const mean = share * expected + (1 - share) * own;
  const spread = Math.sqrt(share * usualSpread ** 2 + (1 - share) * variance);
  const deviations = leastSpread + addedSpread * Math.max(0, Math.log2(length / usualRecords));
  return Math.max(leastSimilar, mean + deviations * spread);
}
