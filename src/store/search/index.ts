import type { SearchFields } from '../../core/record/record-type.ts';
import { allAtOnce, type Steps } from '../records/slices.ts';
import { askedMeaning } from './meaning/asked-meaning.ts';
import { RecordVectors } from './meaning/record-vectors.ts';
import { similarWords } from './meaning/similar-words.ts';
import { makeVectors } from './meaning/table-meaning.ts';
import type { ProjectText } from './meaning/training-matrix.ts';
import { learnVectors } from './meaning/vector-training.ts';
import type { WordTable } from './meaning/word-table.ts';
import type { WordVectors } from './meaning/word-vectors.ts';
import { FieldScope } from './query/field-scope.ts';
import { hasWholeWord } from './query/query.ts';
import { explain } from './rank/explanation.ts';
import { literal } from './rank/literal.ts';
import { type Similar, similarDocuments } from './rank/similar-documents.ts';
import { type Explain, searchByWords, type WordSearchOptions } from './rank/word-search.ts';
import { Collection } from './terms/collection.ts';
import type { SavedSearch } from './terms/saved-search.ts';
import type { Hits, SearchDocument } from './terms/search-document.ts';
import { type RowState, saveSearch } from './terms/search-writer.ts';
import type { IndexedDocument } from './terms/searched-collection.ts';
import { outlineOf } from './text/text-outline.ts';

export type { Hit, Hits, SearchDocument } from './terms/search-document.ts';

export interface SearchOptions extends WordSearchOptions {
  /** False to search for the query as a literal, case-insensitive substring. Default true. */
  readonly fuzzy?: boolean;
  /** Whether each hit says why it was found. */
  readonly explain?: boolean;
  /** Documents that are not in the index: only a literal search reads them; `undefined` ends a step. */
  readonly rest?: Iterable<SearchDocument | undefined>;
}

/**
 * The search engine: an in-memory index of documents by their words.
 *
 * Long work can run in steps. Steps that change the index must not interleave.
 */
export class SearchIndex {
  readonly #collection = new Collection();

  /** Adds the documents of a saved index to an empty one; see `Collection.adopt`. */
  adopt(
    saved: SavedSearch,
    ids: readonly string[],
    fieldsOf: (id: string) => SearchFields | undefined,
  ): void {
    this.#collection.adopt(saved, ids, fieldsOf);
  }

  /** Encodes the index in steps; see `saveSearch`. */
  *saving(
    ids: readonly string[],
    stateOf: (id: string) => RowState,
    table?: WordTable,
  ): Steps<Uint8Array[]> {
    if (table) yield* makeVectors(table, this.#collection);
    return yield* saveSearch(this.#collection, ids, stateOf, table && RecordVectors.id(table));
  }

  /** The texts of a document; undefined if there is none with this id. */
  fieldsOf(id: string): SearchFields | undefined {
    const number = this.#collection.numberOf(id);
    return number === undefined ? undefined : this.#collection.entry(number)?.fields;
  }

  /** The number of documents. */
  get size(): number {
    return this.#collection.size;
  }

  /** The number of distinct words. */
  get words(): number {
    return this.#collection.dictionary.size;
  }

  /** The number of words, with each use counted. */
  get tokens(): number {
    return this.#collection.tokens;
  }

  /** Adds a document, or replaces the one with its id. */
  upsert(document: SearchDocument): void {
    allAtOnce(this.upserting(document));
  }

  /** Adds a new document in one step if it is short; returns false, and does nothing, for any other. */
  addShort(document: SearchDocument): boolean {
    return this.#collection.addShort(document);
  }

  *upserting(document: SearchDocument): Steps {
    yield* this.#collection.removing(document.id);
    yield* this.#collection.adding(document);
  }

  /** Removes a document; nothing happens when there is none with this id. */
  remove(id: string): void {
    allAtOnce(this.removing(id));
  }

  removing(id: string): Steps {
    return this.#collection.removing(id);
  }

  /** The documents with the most terms in common with another one, which can be among them. */
  similar(document: SearchDocument): readonly Similar[] {
    return similarDocuments(this.#collection, document);
  }

  /** Whether a document has a stem. */
  hasTerm(term: string): boolean {
    return this.#collection.dictionary.term(term) !== undefined;
  }

  /** The packed vectors of a document by a table of words; undefined if there is none with this id. */
  vectorsOf(id: string, table: WordTable): Uint8Array | undefined {
    allAtOnce(makeVectors(table, this.#collection));
    const number = this.#collection.numberOf(id);
    return number === undefined ? undefined : this.#collection.vectors.of(number);
  }

  /** Sets vectors of a document that were made by a larger table. */
  setVectors(id: string, vectors: Uint8Array): void {
    const number = this.#collection.numberOf(id);
    if (number !== undefined) this.#collection.vectors.set(number, vectors);
  }

  /** Learns vectors of words from the documents and other texts; see `learnVectors`. */
  learning(others: readonly ProjectText[]): Steps<WordVectors | undefined> {
    return learnVectors(this.#collection, others);
  }

  /** One number for each document, another one when the number of its words changes. */
  *fingerprints(): Generator<number> {
    yield* this.#collection.fingerprints();
  }

  /** The documents that match, the best first; equally good ones by id. */
  search(query: string, options: SearchOptions = {}): Hits {
    return allAtOnce(this.searching(query, options));
  }

  *searching(query: string, options: SearchOptions): Steps<Hits> {
    const { filter, limit = 20, offset = 0, fuzzy = true, rest = [] } = options;
    const collection = this.#collection;
    const found = fuzzy
      ? yield* searchByWords(collection, query, options, outlineOf, this.#explains(query, options))
      : undefined;
    const { alone = 0, ...byWords } = found ?? { hits: [], total: 0 };
    if (found && (found.total > alone || options.sure)) return byWords;
    // The index has no entry for punctuation or for the middle of a word.
    const isFound = fuzzy && hasWholeWord(query);
    const documents = isFound ? [] : collection.documents(filter ?? (() => true));
    const scope = new FieldScope(options.fields);
    const score = fuzzy ? 0.1 : 1;
    const page = { limit, offset };
    const literally = yield* literal([documents, rest], query, page, score, scope, options.explain);
    return found && literally.total === 0 ? byWords : literally;
  }

  #explains(query: string, { explain: isWanted, table }: SearchOptions): Explain | undefined {
    if (!isWanted) return undefined;
    return (one, concepts, rarities, scope) => {
      const asked = table && askedMeaning(query, concepts, table, this.#collection);
      const similarIn = (entry: IndexedDocument) =>
        asked ? similarWords(asked, entry, table) : [];
      return explain(this.#collection, one, concepts, rarities, scope, similarIn);
    };
  }
}
