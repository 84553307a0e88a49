import { vectorBytes } from '../terms/document-vectors.ts';
import type { SearchedCollection } from '../terms/searched-collection.ts';
import { packVector, tableDimensions } from './packed-vector.ts';
import { toUnit } from './unit-vector.ts';
import type { WordTable } from './word-table.ts';

/** The number of words of one part of a record. */
const partWords = 150;
/** The weight of a title in each part of its record. */
const titleWeight = 0.3;

/** Another number when the same words have another vector. */
const form = 2;

/** Makes the vectors of records: one for each part of about equal length, with the title in each of them. */
export class RecordVectors {
  readonly #table: WordTable;
  readonly #collection: SearchedCollection;
  /** How often the words at a place of the table are used in a part; 0 between two parts. */
  readonly #uses: Uint32Array;
  /** The place of each term in the table by the number of the term, one higher; 0 if it is not known. */
  readonly #places: Int32Array;

  constructor(table: WordTable, collection: SearchedCollection) {
    this.#table = table;
    this.#collection = collection;
    this.#uses = new Uint32Array(table.size);
    this.#places = new Int32Array(collection.dictionary.termCount);
  }

  /** Identifies how the vectors are made with a table: others cannot be compared with them. */
  static id(table: WordTable): string {
    return `${form} ${table.id}`;
  }

  /** The packed vectors of a document; none if none of its words has one. */
  of(terms: readonly Uint32Array[]): Uint8Array {
    const [title = new Uint32Array(), ...texts] = terms;
    const titled = this.#sum([title], 0, Number.POSITIVE_INFINITY);
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    const parts = Math.max(1, Math.round(length / partWords));
    const found = new Uint8Array(parts * vectorBytes);
    let used = 0;
    const name = Float64Array.from(titled);
    const isNamed = toUnit(name);
    for (let part = 0; part < parts; part++) {
      const from = Math.floor((part * length) / parts);
      const to = Math.floor(((part + 1) * length) / parts);
      const sum = this.#sum(texts, from, to);
      for (let at = 0; at < tableDimensions; at++)
        sum[at] = (sum[at] as number) + (titled[at] as number);
      if (!toUnit(sum)) continue;
      if (isNamed) {
        for (let at = 0; at < tableDimensions; at++) {
          sum[at] = (sum[at] as number) + titleWeight * (name[at] as number);
        }
      }
      packVector(sum, found, used, (step) => step);
      used += 1;
    }
    return found.subarray(0, used * vectorBytes);
  }

  /**
   * The sum of the words from one place to another.
   *
   * A word that is repeated says less each time: it does not decide alone what a part is about.
   */
  #sum(texts: readonly Uint32Array[], from: number, to: number): Float64Array {
    const sum = new Float64Array(tableDimensions);
    const places: number[] = [];
    let first = 0;
    for (const text of texts) {
      const end = Math.min(text.length, to - first);
      for (let at = Math.max(0, from - first); at < end; at++) {
        const place = this.#placeOf(text[at] as number);
        if (place < 0) continue;
        const uses = this.#uses[place] as number;
        if (uses === 0) places.push(place);
        this.#uses[place] = uses + 1;
      }
      first += text.length;
    }
    for (const place of places) {
      this.#table.addTo(sum, place, 1 + Math.log(this.#uses[place] as number));
      this.#uses[place] = 0;
    }
    return sum;
  }

  #placeOf(term: number): number {
    const known = this.#places[term] ?? 0;
    if (known !== 0) return known - 2;
    const { dictionary } = this.#collection;
    const place = dictionary.isStop(term) ? -1 : this.#table.placeOf(dictionary.termText(term));
    this.#places[term] = place + 2;
    return place;
  }
}
