import type { Steps } from '../../records/slices.ts';
import type { SearchedCollection } from '../terms/searched-collection.ts';
import type { AskedMeaning } from './asked-meaning.ts';
import { PackedComparison } from './packed-vector.ts';
import { RecordVectors } from './record-vectors.ts';
import type { WordTable } from './word-table.ts';

/** The score of words from which on they have answered the query: no meaning is added. */
const answered = 2;
/** The part that a unit of similarity adds, as long as that is little. */
const weight = 10;
/** The most that meaning adds: alone it makes a score of 0.83 at most. */
const mostAdded = 2.5;
/** Only similarity that is this many standard deviations above the average counts. */
const leastSpread = 0.5;
/** Similarities are rounded to a part of this: their sums are the same in any order of the documents. */
const exactParts = 1 << 16;
/** Similarity below this one is chance. */
const leastSimilar = 0.2;

/** The parts that the meaning of a query adds to the scores of words. */
export interface MeaningScores {
  /** The share of the score of the words that counts. */
  readonly share: number;
  /** The added part of each document, by number, in the unit of `best`. */
  readonly added: Float64Array;
}

/**
 * Rates all documents by the meaning of a query, as far as its words have not answered it.
 *
 * @param best the best score of words, 1 for a document with each word of the query once.
 */
export function* rateMeaning(
  table: WordTable,
  collection: SearchedCollection,
  asked: AskedMeaning,
  best: number,
  accepts: ((id: string) => boolean) | undefined,
): Steps<MeaningScores | undefined> {
  const known = Math.sqrt(asked.known);
  const open = Math.max(0, 1 - (known * best) / answered);
  if (open === 0) return undefined;
  yield* makeVectors(table, collection);
  const comparison = new PackedComparison(asked.vector);
  const { vectors } = collection;
  const { bytes, floats } = vectors;
  const added = new Float64Array(collection.capacity);
  const rated: number[] = [];
  let sum = 0;
  let squares = 0;
  for (let number = 0; number < added.length; number++) {
    if (!collection.has(number)) continue;
    if (accepts && !accepts(collection.idOf(number) ?? '')) continue;
    const count = vectors.countOf(number);
    if (count <= 0) continue;
    const first = vectors.firstOf(number);
    let most = comparison.with(bytes, floats, first);
    for (let row = first + 1; row < first + count; row++) {
      most = Math.max(most, comparison.with(bytes, floats, row));
    }
    most = Math.round(most * exactParts) / exactParts;
    added[number] = most;
    sum += most;
    squares += most * most;
    rated.push(number);
  }
  const mean = sum / rated.length;
  const spread = Math.sqrt(Math.max(0, squares / rated.length - mean * mean));
  for (const number of rated) {
    const value = added[number] as number;
    const above = value < leastSimilar ? 0 : Math.max(0, value - mean - leastSpread * spread);
    const gained = weight * open * asked.covered * above;
    added[number] = gained / (1 + gained / mostAdded);
  }
  return { share: 1 - open * (1 - known), added };
}

/** Makes the vectors that documents lack. */
export function* makeVectors(table: WordTable, collection: SearchedCollection): Steps {
  const { vectors } = collection;
  collection.takeVectors(table.id);
  let maker: RecordVectors | undefined;
  for (let number = 0; number < collection.capacity; number++) {
    if (vectors.countOf(number) >= 0 || !collection.has(number)) continue;
    maker ??= new RecordVectors(table, collection);
    vectors.set(number, maker.of(collection.termsOf(number)));
    yield;
  }
}
