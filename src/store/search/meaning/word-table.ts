import { bytesOf, jsonBytes, SectionFile, sectionFile } from '../../derived/section-file.ts';
import { vectorBytes } from '../terms/document-vectors.ts';
import {
  addPacked,
  PackedComparison,
  packVector,
  tableDimensions,
  vectorWords,
} from './packed-vector.ts';
import { toUnit } from './unit-vector.ts';
import { packPlaces, placeSections, WordPlaces } from './word-places.ts';

/** Identifies the format of the table. */
export const tableMark = `word table 2 ${tableDimensions}`;
/** The sections of the table by position; the words are several sections. */
const sections = {
  facts: 0,
  words: 1,
  vectors: 1 + placeSections,
  usual: 2 + placeSections,
} as const;
/** A larger file is not read, in bytes. */
export const maxTableBytes = 4 * 1024 * 1024;
/** A word with a larger share of all words than this counts less than half. */
const frequent = 1e-3;

/** A part of a table, which needs no file. */
export interface WordExcerpt {
  readonly words: readonly string[];
  readonly vectors: Uint8Array;
  /** See `WordTable.usual`. */
  readonly usual: readonly number[];
}

type Places = Pick<WordPlaces, 'length' | 'at' | 'placeOf'>;

/** Vectors of words as they are used in texts about software: the table ships with the program. */
export class WordTable {
  /** Identifies the content: vectors by another table cannot be compared. */
  readonly id: string;
  /** The direction of a text about anything: the sum of all words, each as often as it is used. */
  readonly usual: Float64Array;
  readonly #words: Places;
  readonly #vectors: Uint8Array;
  /** The factor of each vector at every tenth place. */
  readonly #factors: Float32Array;

  private constructor(id: string, words: Places, vectors: Uint8Array, usual: Float64Array) {
    this.id = id;
    this.usual = usual;
    this.#words = words;
    this.#vectors = vectors;
    this.#factors = factorsOf(vectors);
  }

  /** Reads a table; undefined if it is damaged, of another version, or of another byte order. */
  static read(bytes: Uint8Array): WordTable | undefined {
    const file = SectionFile.open(bytes, tableMark);
    if (!file?.isWhole) return undefined;
    const words = WordPlaces.read(file, sections.words);
    const vectors = file.section(sections.vectors);
    const usual = file.floats(sections.usual, tableDimensions);
    if (!words || vectors?.length !== words.length * vectorBytes) return undefined;
    if (!usual?.every((part) => Math.abs(part) <= 1)) return undefined;
    return new WordTable(file.id, words, vectors, usual);
  }

  /** Makes a table of the words of another one, for a reader of no file. */
  static of({ words, vectors, usual }: WordExcerpt): WordTable {
    const places = new Map(words.map((word, place) => [word, place]));
    const list = {
      length: words.length,
      at: (place: number) => words[place] ?? '',
      placeOf: (word: string) => places.get(word) ?? -1,
    };
    return new WordTable(`excerpt ${words.length}`, list, vectors, Float64Array.from(usual));
  }

  /**
   * Returns a part of the table: the wanted words, then the most used ones.
   *
   * @param most limit of the wanted words, of which the most used are taken.
   * @param others least number of the words that are not wanted, and `least` that of all.
   */
  excerpt(
    isWanted: (term: string) => boolean,
    { most, others, least }: { readonly [name in 'most' | 'others' | 'least']: number },
  ): WordExcerpt {
    const weights = Float64Array.from({ length: this.size }, (_, place) => this.#weightOf(place));
    const usedMost = [...weights.keys()].sort((a, b) => Number(weights[a]) - Number(weights[b]));
    const wanted = usedMost.filter((place) => isWanted(this.#words.at(place))).slice(0, most);
    const count = Math.max(least, wanted.length + others);
    const places = [...new Set([...wanted, ...usedMost])].slice(0, count);
    const vectors = new Uint8Array(places.length * vectorBytes);
    for (const [row, place] of places.entries()) {
      const start = place * vectorBytes;
      vectors.set(this.#vectors.subarray(start, start + vectorBytes), row * vectorBytes);
    }
    return { words: places.map((place) => this.#words.at(place)), vectors, usual: [...this.usual] };
  }

  /** The weight of a word, which is less for one that is used more. */
  #weightOf(place: number): number {
    const vector = new Float64Array(tableDimensions);
    this.addTo(vector, place, 1);
    return vector.reduce((sum, part) => sum + part * part, 0);
  }

  get size(): number {
    return this.#words.length;
  }

  /** The place of a stem; -1 for one without a vector. */
  placeOf(term: string): number {
    return this.#words.placeOf(term);
  }

  /** Adds the vector of the word at a place to a sum; a frequent word counts less. */
  addTo(sum: Float64Array, place: number, weight: number): void {
    addPacked(sum, this.#vectors, this.#factors, place, weight);
  }

  /** The words that are most like a vector, the likest first, for the maker of the table. */
  nearest(vector: Float64Array, count: number): string[] {
    const comparison = new PackedComparison(vector);
    const { buffer, byteOffset, length } = this.#vectors;
    const packed = new Uint32Array(buffer, byteOffset, length / 4);
    const found = Array.from({ length: this.size }, (_, place) => {
      const factor = this.#factors[place * vectorWords] as number;
      return { place, value: comparison.with(packed, this.#factors, place) / factor };
    });
    found.sort((a, b) => b.value - a.value);
    return found.slice(0, count).map(({ place }) => this.#words.at(place));
  }
}

/** Encodes a table; the words are sorted, and each has a vector and its share of all words. */
export function wordTableFile(
  words: readonly string[],
  shares: ArrayLike<number>,
  vectorOf: (place: number) => ArrayLike<number>,
): Uint8Array[] {
  const vectors = new Uint8Array(words.length * vectorBytes);
  for (const place of words.keys()) {
    const weight = frequent / (frequent + (shares[place] as number));
    packVector(vectorOf(place), vectors, place, (_, length) => weight / (length || 1));
  }
  const usual = new Float64Array(tableDimensions);
  const factors = factorsOf(vectors);
  for (const place of words.keys()) {
    addPacked(usual, vectors, factors, place, shares[place] as number);
  }
  toUnit(usual);
  const facts = jsonBytes({ words: words.length, dimensions: tableDimensions });
  const content = [facts, ...packPlaces(words), bytesOf(vectors), bytesOf(usual)];
  return sectionFile(tableMark, content);
}

function factorsOf({ buffer, byteOffset, length }: Uint8Array): Float32Array {
  return new Float32Array(buffer, byteOffset, length / 4);
}
