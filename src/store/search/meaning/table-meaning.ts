import type { Steps } from '../../records/slices.ts';
import type { SearchedCollection } from '../terms/searched-collection.ts';
import { rateKinds } from './asked-kinds.ts';
import type { AskedMeaning } from './asked-meaning.ts';
import { PackedComparison } from './packed-vector.ts';
import { RecordVectors } from './record-vectors.ts';
import { leastCounted } from './similarity-gate.ts';
import type { WordTable } from './word-table.ts';

/** The score of words from which on they have answered the query: no meaning is added. */
const answered = 2.5;
/** The part that a unit of similarity adds, as long as that is little. */
const weight = 10;
/** The part that a thing or another name of a kind adds, as a share of the score of a word that the query has. */
const kindWeight = 3;
/** The most that meaning adds: alone it makes a score of 0.83 at most. */
const mostAdded = 2.5;
/** Similarities are rounded to a part of this: their sums are the same in any order of the documents. */
const exactParts = 1 << 16;

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
  // A word that the memory lacks is often the one that matters: those that it has count less than their share.
  const known = asked.known * Math.sqrt(asked.known);
  const open = Math.max(0, 1 - (known * best) / answered);
  if (open === 0) return undefined;
  yield* makeVectors(table, collection);
  const added = new Float64Array(collection.capacity);
  const rated = compareAll(collection, new PackedComparison(asked.vector), accepts, added);
  const least = leastCounted(added, rated, asked.vector, table);
  // Likewise a word without a vector, such as a misspelt one.
  const covered = asked.covered * asked.covered;
  const ofKinds = new Float64Array(added.length);
  rateKinds(asked.kinds, collection, ofKinds);
  for (let at = 0; at < rated.length; at++) {
    const number = rated[at] as number;
    const above = Math.max(0, (added[number] as number) - least);
    const ofKind = (kindWeight * (ofKinds[number] as number)) / asked.rarity;
    const gained = open * (weight * covered * above + ofKind);
    added[number] = gained / (1 + gained / mostAdded);
  }
  return { share: 1 - open * (1 - known), added };
}

/**
 * Compares the documents that have vectors, each by the part of it that is most similar.
 *
 * A plain function with plain loops: a short process runs it before it is compiled.
 *
 * @param to gets the similarity of each of them, by number.
 * @returns their numbers.
 */
function compareAll(
  collection: SearchedCollection,
  comparison: PackedComparison,
  accepts: ((id: string) => boolean) | undefined,
  to: Float64Array,
): readonly number[] {
  const { vectors } = collection;
  const { integers, floats } = vectors;
  const compared: number[] = [];
  for (let number = 0; number < to.length; number++) {
    const count = vectors.countOf(number);
    if (count <= 0 || !collection.has(number)) continue;
    if (accepts && !accepts(collection.idOf(number) ?? '')) continue;
    const first = vectors.firstOf(number);
    let most = comparison.with(integers, floats, first);
    for (let row = first + 1; row < first + count; row++) {
      most = Math.max(most, comparison.with(integers, floats, row));
    }
    to[number] = Math.round(most * exactParts) / exactParts;
    compared.push(number);
  }
  return compared;
}

/** Makes the vectors that documents lack. */
export function* makeVectors(table: WordTable, collection: SearchedCollection): Steps {
  const { vectors } = collection;
  collection.takeVectors(RecordVectors.id(table));
  const lacking: number[] = [];
  for (let number = 0; number < collection.capacity; number++) {
    if (vectors.countOf(number) < 0 && collection.has(number)) lacking.push(number);
  }
  if (lacking.length === 0) return;
  const maker = new RecordVectors(table, collection);
  for (const number of lacking) {
    // Another search may have made it, and the document may be gone.
    if (vectors.countOf(number) >= 0 || !collection.has(number)) continue;
    vectors.set(number, maker.of(collection.termsOf(number)));
    yield;
  }
}
