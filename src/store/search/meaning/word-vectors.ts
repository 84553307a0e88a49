import { placeIn } from '../../derived/text-list.ts';

/** The number of dimensions of a learned vector. */
export const dimensions = 32;

/** Vectors of words that were learned from texts: words of similar texts have similar vectors. */
export class WordVectors {
  /** A number of 8 bits is the part of a vector of length 1, times this. */
  static readonly scale = 127;
  /** Sorted. */
  readonly terms: readonly string[];
  /** The inverse document frequency of each term. */
  readonly rarities: Float32Array;
  /** One vector after the other. */
  readonly vectors: Int8Array;

  constructor(terms: readonly string[], rarities: Float32Array, vectors: Int8Array) {
    this.terms = terms;
    this.rarities = rarities;
    this.vectors = vectors;
  }

  /** The place of a term; -1 for a term without a vector. */
  placeOf(term: string): number {
    return placeIn(this.terms, term);
  }

  /** Adds the vector of the term at a place to a sum. */
  addTo(sum: Float32Array, place: number, weight: number): void {
    const { vectors } = this;
    const first = dimensions * place;
    const scaled = weight / WordVectors.scale;
    for (let at = 0; at < dimensions; at++) {
      sum[at] = (sum[at] as number) + scaled * (vectors[first + at] as number);
    }
  }
}
