import type { SearchFields } from '../../core/record-type.ts';

/** What the engine is given of one record. */
export interface SearchDocument {
  /** The record's path. */
  readonly id: string;
  readonly fields: SearchFields;
}

/** The fields that are searched, the heaviest first. */
export const fieldNames = ['title', 'body', 'reason', 'notes'] as const;

export interface Hit {
  readonly id: string;
  /** 0 to 1, descending; 1 for a title that equals the query and for every literal match. */
  readonly score: number;
  /** The parts of the document that matched, as they stand in it, the most telling first. */
  readonly matches: readonly string[];
  /** A piece of the text around the best match. */
  readonly snippet: string;
}

export interface Hits {
  readonly hits: readonly Hit[];
  /** How many documents matched, the ones beyond the limit included. */
  readonly total: number;
}

/** Whether a document's title is the query, case and surrounding space aside. */
export function named({ fields }: SearchDocument, query: string): boolean {
  const plain = (text: string) => text.trim().normalize('NFC').toLowerCase();
  return plain(fields.title) === plain(query);
}
