import type { SearchFields } from '../../../core/record/record-type.ts';
import { PagedBytes, pageBytes, pagedSections } from '../../derived/paged-bytes.ts';
import { bytesOf, jsonBytes, type SectionFile } from '../../derived/section-file.ts';
import { packTexts, StoredTexts, textSections } from '../../derived/text-list.ts';
import { ByteReader } from './byte-list.ts';
import { numbersOf } from './number-list.ts';
import { type Postings, toPosting } from './postings.ts';
import { fieldNames } from './search-document.ts';
import { lettersOf, type StoredWords } from './stored-words.ts';

/** The sections of the index, by their position after those of the records. */
const facts = 0;
const wordTexts = facts + 1;
const termTexts = wordTexts + textSections;
const letters = termTexts + textSections;
const termOf = letters + 1;
const uses = termOf + 1;
const postingsAt = uses + 1;
const postings = postingsAt + 1;
const wordsAt = postings + pagedSections;
const words = wordsAt + 1;
const documents = words + pagedSections;
const vectorsAt = documents + 1;
const vectors = vectorsAt + 1;

/** The numbers of one document: state, content words, hash of its title, place of its labels. */
export const perDocument = 4;
export const indexed = 1;
export const leftOut = 2;

/** The values that a search can filter by. */
export type Labels = Pick<SearchFields, 'type' | 'category'>;

/** The facts about an index. */
interface SavedFacts {
  readonly labels: readonly Labels[];
  /** The number of tokens, and of content words, of all documents. */
  readonly tokens: number;
  readonly length: number;
  /** The number of documents. */
  readonly size: number;
  /** Identifies how the vectors are made; absent without vectors. */
  readonly made?: string;
}

/** The content of an index, as it is encoded. */
export interface IndexContent {
  readonly facts: SavedFacts;
  /** Sorted. */
  readonly words: readonly string[];
  readonly terms: readonly string[];
  readonly termOf: Uint32Array;
  readonly uses: Uint32Array;
  readonly postingsAt: Uint32Array;
  readonly postings: Uint8Array;
  readonly wordsAt: Uint32Array;
  readonly tokens: Uint8Array;
  readonly documents: Uint32Array;
  /** The first vector of each document; after the last one, how many there are. */
  readonly vectorsAt: Uint32Array;
  readonly vectors: Uint8Array;
}

/** Returns the sections of an index. */
export function indexSections(content: IndexContent): Uint8Array[] {
  return [
    jsonBytes(content.facts),
    ...packTexts(content.words),
    ...packTexts(content.terms),
    bytesOf(Uint32Array.from(content.words, lettersOf)),
    bytesOf(content.termOf),
    bytesOf(content.uses),
    bytesOf(content.postingsAt),
    ...pageBytes(content.postings),
    bytesOf(content.wordsAt),
    ...pageBytes(content.tokens),
    bytesOf(content.documents),
    bytesOf(content.vectorsAt),
    content.vectors,
  ];
}

/** The parts of an index that have many small values. */
interface Lists
  extends Pick<IndexContent, 'termOf' | 'uses' | 'postingsAt' | 'wordsAt' | 'documents'> {
  /** The `lettersOf` each word. */
  readonly letters: Uint32Array;
}

/**
 * The index of an earlier process. The number of a document is its row in `SavedRecords`.
 *
 * The checksums of the file prove that this build has written its content.
 */
export class SavedSearch implements StoredWords {
  readonly facts: SavedFacts;
  readonly words: StoredTexts;
  readonly terms: StoredTexts;
  /** The number of rows. */
  readonly count: number;
  readonly #lists: Lists;
  readonly #postings: PagedBytes;
  readonly #tokens: PagedBytes;
  readonly #vectors: () => SavedVectors | undefined;

  private constructor(
    saved: SavedFacts,
    texts: { readonly words: StoredTexts; readonly terms: StoredTexts },
    lists: Lists,
    bytes: { readonly postings: PagedBytes; readonly tokens: PagedBytes },
    count: number,
    vectors: () => SavedVectors | undefined,
  ) {
    this.facts = saved;
    this.words = texts.words;
    this.terms = texts.terms;
    this.count = count;
    this.#lists = lists;
    this.#postings = bytes.postings;
    this.#tokens = bytes.tokens;
    this.#vectors = vectors;
  }

  /**
   * Reads the index of a file; undefined if it has none or a damaged one.
   *
   * @param first the position of its first section.
   * @param count the number of rows.
   * @param whole whether the file is in memory, so that all of it is checked at once. Otherwise a
   *   method throws an error when it meets damage.
   */
  static read(
    file: SectionFile,
    first: number,
    count: number,
    whole: boolean,
  ): SavedSearch | undefined {
    const saved = file.json(first + facts) as SavedFacts | undefined;
    const texts = {
      words: StoredTexts.read(file, first + wordTexts, whole),
      terms: StoredTexts.read(file, first + termTexts, whole),
    };
    if (!saved || !texts.words || !texts.terms) return undefined;
    const numbers = (section: number, length: number) => file.integers(first + section, length);
    const lists = {
      letters: numbers(letters, texts.words.length),
      termOf: numbers(termOf, texts.words.length),
      uses: numbers(uses, texts.words.length),
      postingsAt: numbers(postingsAt, texts.terms.length + 1),
      wordsAt: numbers(wordsAt, count + 1),
      documents: numbers(documents, perDocument * count),
    };
    const bytes = {
      postings: PagedBytes.read(file, first + postings, whole),
      tokens: PagedBytes.read(file, first + words, whole),
    };
    if (!isComplete(texts) || !isComplete(lists) || !isComplete(bytes)) return undefined;
    return new SavedSearch(saved, texts, lists, bytes, count, () => {
      const starts = numbers(vectorsAt, count + 1);
      const packed = file.section(first + vectors);
      return starts && packed && { starts, packed };
    });
  }

  /** The vectors of the documents, if they are made in this way. */
  vectors(made: string): SavedVectors | undefined {
    return this.facts.made === made ? this.#vectors() : undefined;
  }

  get letters(): Uint32Array {
    return this.#lists.letters;
  }

  get termOf(): Uint32Array {
    return this.#lists.termOf;
  }

  get uses(): Uint32Array {
    return this.#lists.uses;
  }

  isIndexed(row: number): boolean {
    return this.#lists.documents[perDocument * row] === indexed;
  }

  isLeftOut(row: number): boolean {
    return this.#lists.documents[perDocument * row] === leftOut;
  }

  /** The number of content words of a document. */
  lengthOf(row: number): number {
    return this.#lists.documents[perDocument * row + 1] ?? 0;
  }

  /** The number of content words of each document; 0 for one that is not indexed. */
  lengths(): number[] {
    const { documents } = this.#lists;
    const found = new Array<number>(this.count);
    for (let row = 0; row < this.count; row++) {
      const isIndexed = documents[perDocument * row] === indexed;
      found[row] = isIndexed ? (documents[perDocument * row + 1] as number) : 0;
    }
    return found;
  }

  /** The rows of the records that are not indexed. */
  unindexed(): number[] {
    const found: number[] = [];
    if (this.facts.size === this.count) return found;
    for (let row = 0; row < this.count; row++) if (!this.isIndexed(row)) found.push(row);
    return found;
  }

  titleHash(row: number): number {
    return this.#lists.documents[perDocument * row + 2] ?? 0;
  }

  /** The hash of the title of each document. */
  titleHashes(): number[] {
    const found = new Array<number>(this.count);
    for (let row = 0; row < this.count; row++) found[row] = this.titleHash(row);
    return found;
  }

  labels(row: number): Labels {
    return this.facts.labels[this.#lists.documents[perDocument * row + 3] ?? -1] ?? {};
  }

  postings(term: number): Postings {
    const reader = readerOf(this.#postings, this.#lists.postingsAt, term);
    const found: number[] = [];
    for (let document = -1; !reader.isAtEnd; ) {
      document += reader.next() + 1;
      const weight = reader.next();
      if (document >= this.count) break;
      found.push(toPosting(document, weight));
    }
    return found;
  }

  /** The numbers of the terms of each field of a document, in the order of the text. */
  termsOf(row: number): Uint32Array[] {
    const { termOf } = this;
    return this.wordsOf(row).map((places) => numbersOf(places, (place) => termOf[place] ?? 0));
  }

  /** The places of the words of each field of a document, in the order of the text. */
  wordsOf(row: number): number[][] {
    const reader = readerOf(this.#tokens, this.#lists.wordsAt, row);
    return fieldNames.map(() => {
      const places: number[] = [];
      for (let left = reader.next(); left > 0 && !reader.isAtEnd; left--)
        places.push(reader.next());
      return places;
    });
  }
}

/** The packed vectors of documents, and the place of the first one of each document. */
export interface SavedVectors {
  readonly starts: Uint32Array;
  readonly packed: Uint8Array;
}

/** Reads the list with a number, of lists that follow each other. */
function readerOf(bytes: PagedBytes, starts: Uint32Array, list: number): ByteReader {
  const [from = 0, to = 0] = starts.subarray(list, list + 2);
  return new ByteReader(bytes.range(from, to), 0, to - from);
}

/** Whether no part is missing. */
function isComplete<T extends object>(
  parts: T,
): parts is { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.values(parts).every((part) => part !== undefined);
}
