import type { MeaningSignalName } from '../../../core/memory/search-hit.ts';
import type { Steps } from '../../records/slices.ts';
import type { Concept } from '../query/query.ts';
import type { IndexedDocument } from '../terms/searched-collection.ts';

/** A query as the ranking sees it. */
export interface RankedQuery {
  readonly text: string;
  readonly concepts: readonly Concept[];
  /** The weight of each concept. */
  readonly rarities: readonly number[];
  /** The text of the term with a number. */
  termText(number: number): string;
}

/**
 * Compares the documents that the words of a query found with the query.
 *
 * @returns for each document a number from -1 to 1, or undefined if nothing is known of it.
 */
export type CompareMeaning = (
  query: RankedQuery,
  documents: readonly IndexedDocument[],
) => Steps<readonly (number | undefined)[]>;

/**
 * A source of similarity of meaning. It changes the order of the first hits, never which hits there are.
 */
export interface MeaningSignal {
  /** Its name in explanations. */
  readonly name: MeaningSignalName;
  /** The share of the best score that the most similar document gains. */
  readonly weight: number;
  /** Prepares for a query in a bounded time; undefined if the signal has nothing to say about it. */
  prepare(query: string): Promise<CompareMeaning | undefined>;
}

/** A signal that is ready for one query. */
export interface PreparedMeaning {
  readonly name: MeaningSignalName;
  readonly weight: number;
  readonly compare: CompareMeaning;
}

/** The part of the score that each signal adds to one document. */
export type AddedMeaning = { readonly [name in MeaningSignalName]?: number };

/** Differences of similarity below this one are not stretched to the whole weight of a signal. */
const leastRange = 0.1;

/** Prepares signals for a query; a signal that fails, or has nothing to say, is left out. */
export async function prepareMeanings(
  signals: readonly MeaningSignal[],
  query: string,
): Promise<readonly PreparedMeaning[]> {
  const prepared = signals.map(async (signal) => {
    const compare = await signal.prepare(query).catch(() => undefined);
    return compare ? [{ name: signal.name, weight: signal.weight, compare }] : [];
  });
  return (await Promise.all(prepared)).flat();
}

/**
 * Computes what the signals add to the score of each document.
 *
 * The least similar document gains nothing, the most similar one the weight of the signal. A document
 * that a signal knows nothing of gains the average, so that it keeps its place.
 *
 * @param best the best score.
 */
export function* addMeanings(
  meanings: readonly PreparedMeaning[],
  query: RankedQuery,
  documents: readonly IndexedDocument[],
  best: number,
): Steps<AddedMeaning[]> {
  const added = documents.map((): { [name in MeaningSignalName]?: number } => ({}));
  if (documents.length < 2) return added;
  for (const { name, weight, compare } of meanings) {
    const found = yield* compare(query, documents);
    const known = found.filter(isUsable);
    if (known.length === 0) continue;
    const least = Math.min(...known);
    const range = Math.max(leastRange, Math.max(...known) - least);
    const average = known.reduce((sum, value) => sum + value, 0) / known.length;
    for (const [index, one] of added.entries()) {
      const value = found[index];
      one[name] = (weight * best * ((isUsable(value) ? value : average) - least)) / range;
    }
    yield;
  }
  return added;
}

function isUsable(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}
