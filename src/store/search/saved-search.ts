import type { SearchFields } from '../../core/record-type.ts';
import { isSorted, type SectionFile } from '../records/section-file.ts';
import { ByteReader } from './byte-list.ts';
import { type Postings, toPosting } from './postings.ts';
import { fieldNames } from './search-document.ts';
import type { StoredWords } from './stored-words.ts';

/** The sections of the index, by their position after those of the records. */
const sections = {
  texts: 0,
  termOf: 1,
  uses: 2,
  postingsAt: 3,
  postings: 4,
  wordsAt: 5,
  words: 6,
  documents: 7,
} as const;

/** The numbers of one document: state, content words, hash of its title, place of its labels. */
export const perDocument = 4;
export const indexed = 1;
export const leftOut = 2;

/** The values that a search can filter by. */
export type Labels = Pick<SearchFields, 'type' | 'category'>;

/** The texts of an index. */
export interface SavedTexts {
  readonly words: readonly string[];
  readonly terms: readonly string[];
  readonly labels: readonly Labels[];
  readonly tokens: number;
}

/** The index of an earlier process. The number of a document is its row in `SavedRecords`. */
export class SavedSearch implements StoredWords {
  readonly words: readonly string[];
  readonly terms: readonly string[];
  readonly termOf: Uint32Array;
  readonly uses: Uint32Array;
  /** The number of tokens of all documents. */
  readonly tokens: number;
  /** The number of rows. */
  readonly count: number;
  readonly #labels: readonly Labels[];
  readonly #postingsAt: Uint32Array;
  readonly #postings: Uint8Array;
  readonly #wordsAt: Uint32Array;
  readonly #words: Uint8Array;
  readonly #documents: Uint32Array;

  private constructor(
    texts: SavedTexts,
    count: number,
    parts: readonly Uint32Array[],
    bytes: Uint8Array[],
  ) {
    const none = new Uint32Array();
    this.words = texts.words;
    this.terms = texts.terms;
    this.tokens = texts.tokens;
    this.count = count;
    this.#labels = texts.labels;
    [
      this.termOf = none,
      this.uses = none,
      this.#postingsAt = none,
      this.#wordsAt = none,
      this.#documents = none,
    ] = parts;
    [this.#postings = new Uint8Array(), this.#words = new Uint8Array()] = bytes;
  }

  /**
   * Reads the index of a file; undefined if it has none or a damaged one.
   *
   * @param first the position of its first section.
   * @param count the number of rows.
   */
  static read(file: SectionFile, first: number, count: number): SavedSearch | undefined {
    const texts = toTexts(file.json(first + sections.texts));
    if (!texts) return undefined;
    const { length: words } = texts.words;
    const { length: terms } = texts.terms;
    const termOf = file.integers(first + sections.termOf, words);
    const uses = file.integers(first + sections.uses, words);
    const postingsAt = file.integers(first + sections.postingsAt, terms + 1);
    const postings = file.section(first + sections.postings);
    const wordsAt = file.integers(first + sections.wordsAt, count + 1);
    const tokens = file.section(first + sections.words);
    const documents = file.integers(first + sections.documents, perDocument * count);
    if (!termOf || !uses || !postingsAt || !wordsAt || !documents) return undefined;
    if (!postings || !tokens || termOf.some((place) => place >= terms)) return undefined;
    if (!isAscending(postingsAt, postings.length)) return undefined;
    if (!isAscending(wordsAt, tokens.length)) return undefined;
    // A token takes at least one byte.
    if (!(texts.tokens >= 0 && texts.tokens <= tokens.length)) return undefined;
    const parts = [termOf, uses, postingsAt, wordsAt, documents];
    return new SavedSearch(texts, count, parts, [postings, tokens]);
  }

  isIndexed(row: number): boolean {
    return this.#documents[perDocument * row] === indexed;
  }

  isLeftOut(row: number): boolean {
    return this.#documents[perDocument * row] === leftOut;
  }

  /** The number of content words of a document. */
  lengthOf(row: number): number {
    return this.#documents[perDocument * row + 1] ?? 0;
  }

  titleHash(row: number): number {
    return this.#documents[perDocument * row + 2] ?? 0;
  }

  labels(row: number): Labels {
    return this.#labels[this.#documents[perDocument * row + 3] ?? -1] ?? {};
  }

  postings(term: number): Postings {
    const end = this.#postingsAt[term + 1] ?? 0;
    const reader = new ByteReader(this.#postings, this.#postingsAt[term] ?? 0, end);
    const found: number[] = [];
    for (let document = -1; !reader.isAtEnd; ) {
      document += reader.next() + 1;
      const weight = reader.next();
      if (document >= this.count) break;
      found.push(toPosting(document, weight));
    }
    return found;
  }

  /** The places of the words of each field of a document, in the order of the text. */
  wordsOf(row: number): number[][] {
    const end = this.#wordsAt[row + 1] ?? 0;
    const reader = new ByteReader(this.#words, this.#wordsAt[row] ?? 0, end);
    return fieldNames.map(() => {
      const places: number[] = [];
      for (let left = reader.next(); left > 0 && !reader.isAtEnd; left--)
        places.push(reader.next());
      return places;
    });
  }
}

function toTexts(value: unknown): SavedTexts | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { words, terms, labels, tokens } = value as Partial<Record<keyof SavedTexts, unknown>>;
  if (!isSorted(words) || !isSorted(terms) || !Array.isArray(labels)) return undefined;
  if (!labels.every((label) => typeof label === 'object' && label !== null)) return undefined;
  return typeof tokens === 'number' ? { words, terms, labels, tokens } : undefined;
}

/** Whether a list of offsets never goes back and ends within a length. */
function isAscending(offsets: Uint32Array, length: number): boolean {
  for (let at = 1; at < offsets.length; at++) {
    if ((offsets[at] ?? 0) < (offsets[at - 1] ?? 0)) return false;
  }
  return (offsets.at(-1) ?? 0) <= length;
}
