import type { Dictionary, Word } from './dictionary.ts';
import type { DocumentVectors } from './document-vectors.ts';
import type { SearchDocument } from './search-document.ts';

/** A document in the form that the ranking needs. */
export interface IndexedDocument extends SearchDocument {
  readonly number: number;
  /** The title, normalised for the comparison with a query. */
  readonly name: string;
  /** For each field, every token in the order of its text. */
  readonly words: readonly (readonly Word[])[];
  /** For each field, the number of the term of every token. */
  readonly terms: readonly Uint32Array[];
}

/** The part of an inverted index that a search reads. */
export interface SearchedCollection {
  readonly dictionary: Dictionary;
  /** The number of documents. */
  readonly size: number;
  /** One more than the highest document number. */
  readonly capacity: number;
  /** The mean number of content words of a document. */
  readonly averageLength: number;
  /** The packed vectors of the documents, as far as they were needed. */
  readonly vectors: DocumentVectors;
  /** The number of content words of a document. */
  lengthOf(number: number): number;
  has(number: number): boolean;
  /** The id of the document with a number; undefined if there is none. */
  idOf(number: number): string | undefined;
  /** Whether the normalised title of a document equals a name. */
  isNamed(number: number, name: string): boolean;
  /** The document with a number; undefined if there is none. */
  entry(number: number): IndexedDocument | undefined;
  /** Takes the vectors of the saved index, once, if they are made in this way. */
  takeVectors(made: string): void;
  /** The same as `terms` of a document; those of a saved one do not stay in memory. */
  termsOf(number: number): readonly Uint32Array[];
}
