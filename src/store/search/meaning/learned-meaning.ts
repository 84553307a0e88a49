import type { Steps } from '../../records/slices.ts';
import type { IndexedDocument } from '../terms/searched-collection.ts';
import type { PreparedMeaning, RankedQuery } from './meaning.ts';
import { toUnit } from './unit-vector.ts';
import { dimensions, type WordVectors } from './word-vectors.ts';

/** The name of the signal, and its weight: measured in docs/benchmarks.md. */
export const learnedSignal = { name: 'learned', weight: 0.3 } as const;
/** The share of the first hits in the vector of a query, and how many hits that are. */
const feedback = 0.2;
const feedbackHits = 3;

/** Compares documents with a query by the learned vectors of their words. */
export class LearnedMeaning {
  readonly #words: WordVectors;
  /** The vectors of documents; a changed document is another object. */
  readonly #documents = new WeakMap<IndexedDocument, Float32Array>();

  /** The places of the vectors of terms, by the number of the term. */
  readonly #places: number[] = [];

  /** How often a document has each word with a vector; 0 between two documents. */
  readonly #uses: Uint32Array;

  constructor(words: WordVectors) {
    this.#words = words;
    this.#uses = new Uint32Array(words.terms.length);
  }

  /** Implements `CompareMeaning`. */
  *compare(
    query: RankedQuery,
    documents: readonly IndexedDocument[],
  ): Steps<readonly (number | undefined)[]> {
    const asked = this.#ofQuery(query);
    if (!asked) return [];
    const placeOf = (number: number) => this.#placeOf(number, query);
    const vectors: (Float32Array | undefined)[] = [];
    for (const document of documents) {
      vectors.push(this.#ofDocument(document, placeOf));
      yield;
    }
    for (const vector of vectors.slice(0, feedbackHits)) {
      for (const [at, value] of vector?.entries() ?? []) {
        asked[at] = (asked[at] as number) + feedback * value;
      }
    }
    if (!toUnit(asked)) return [];
    return vectors.map((vector) => vector && product(asked, vector));
  }

  #ofQuery({ concepts, rarities }: RankedQuery): Float32Array | undefined {
    const sum = new Float32Array(dimensions);
    for (const [index, { terms }] of concepts.entries()) {
      for (const [{ text }, weight] of terms) {
        const place = this.#words.placeOf(text);
        if (place >= 0) this.#words.addTo(sum, place, weight * (rarities[index] ?? 0));
      }
    }
    return toUnit(sum) ? sum : undefined;
  }

  #ofDocument(
    document: IndexedDocument,
    placeOf: (number: number) => number,
  ): Float32Array | undefined {
    const known = this.#documents.get(document);
    if (known) return known;
    const places: number[] = [];
    for (const terms of document.terms) {
      for (let at = 0; at < terms.length; at++) {
        const place = placeOf(terms[at] as number);
        if (place < 0) continue;
        const uses = this.#uses[place] as number;
        if (uses === 0) places.push(place);
        this.#uses[place] = uses + 1;
      }
    }
    const sum = new Float32Array(dimensions);
    for (const place of places) {
      const uses = this.#uses[place] as number;
      this.#uses[place] = 0;
      this.#words.addTo(sum, place, (1 + Math.log(uses)) * (this.#words.rarities[place] ?? 0));
    }
    if (!toUnit(sum)) return undefined;
    this.#documents.set(document, sum);
    return sum;
  }

  /** The place of the vector of a term; -1 for a term without a vector. */
  #placeOf(number: number, query: RankedQuery): number {
    this.#places[number] ??= this.#words.placeOf(query.termText(number));
    return this.#places[number];
  }
}

/** Returns the signal of vectors that do not change. */
export function preparedMeaning(words: WordVectors): PreparedMeaning {
  const meaning = new LearnedMeaning(words);
  return { ...learnedSignal, compare: (query, documents) => meaning.compare(query, documents) };
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < dimensions; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
}
