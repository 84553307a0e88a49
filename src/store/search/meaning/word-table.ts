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

/** Vectors of words as they are used in texts about software: the table ships with the program. */
export class WordTable {
  /** Identifies the content: vectors by another table cannot be compared. */
  readonly id: string;
  /** The direction of a text about anything: the sum of all words, each as often as it is used. */
  readonly usual: Float64Array;
  readonly #words: WordPlaces;
  readonly #vectors: Uint8Array;
  /** The factor of each vector at every tenth place. */
  readonly #factors: Float32Array;

  private constructor(id: string, words: WordPlaces, vectors: Uint8Array, usual: Float64Array) {
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
    const found = Array.from({ length: this.size }, (_, place) => {
      const factor = this.#factors[place * vectorWords] as number;
      return { place, value: comparison.with(this.#vectors, this.#factors, place) / factor };
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
