import type { LabelledText, SearchExplanation } from '../../../core/memory/search-hit.ts';
import type { RecordAddress } from '../../../core/names/record-address.ts';
import type { SearchFields, TextField } from '../../../core/record/record-type.ts';

/** The searchable content of one record. */
export interface SearchDocument {
  /** The record's path. */
  readonly id: string;
  readonly fields: SearchFields;
}

/** The fields that are searched, the heaviest first, and the weight of a word in each of them. */
export const fieldWeights: { readonly [F in TextField]: number } = {
  title: 3,
  body: 1.3,
  reason: 1.1,
  notes: 1,
};

export const fieldNames: readonly TextField[] = ['title', 'body', 'reason', 'notes'];

/** The section that a passage is from, for markdown with headings. */
export interface SectionOfHit {
  /** Its headings, in the form that readers take. */
  readonly section?: string;
  /** Its first and last line in the body, from 1. */
  readonly lines?: readonly [from: number, to: number];
  /** Other sections of the text that match nearly as well, the best first. */
  readonly also?: readonly string[];
}

/** The parts of a record that a hit shows. */
export interface TextOfHit {
  /** The answer of the record, or the sentences of it that answer the query best; empty without a text. */
  readonly snippet: string;
  /** The reason, if words of the query are in it and not in the answer. */
  readonly reason?: LabelledText;
  /** The alternatives that were not chosen, if words of the query are in it and not in the answer. */
  readonly rejected?: LabelledText;
  /** The state of the record or of the decision, as it is written: `superseded`, `in_progress`. */
  readonly state?: string;
}

export interface Hit extends SectionOfHit, TextOfHit {
  readonly id: string;
  /** The dated title of the entry of a log; undefined for a whole record. */
  readonly entry?: string;
  /** 0 to 1, descending; 1 for a title that equals the query and, in literal search, for every hit. */
  readonly score: number;
  /** The parts of the document that matched, as written in it, in the order of the query. */
  readonly matches: readonly string[];
  /** The title of the document, or of the entry of a log, if only sure hits are wanted. */
  readonly title?: string;
  /** The place of a later hit on the same subject that follows. */
  readonly later?: RecordAddress;
  /** A number that about equally good hits on one subject have in common. */
  readonly group?: number;
  /** Why it was found, if the search asks for it. */
  readonly explanation?: SearchExplanation;
}

export interface Hits {
  readonly hits: readonly Hit[];
  /** How many documents and entries of logs matched, the ones beyond the limit included. */
  readonly total: number;
}

/** Normalises a title or query for comparison: ignores case and surrounding space. */
export function plain(text: string): string {
  return text.trim().normalize('NFC').toLowerCase();
}

/** Returns a number of 32 bits for a title; different titles rarely have the same one. */
export function hashOf(title: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < title.length; at++)
    hash = Math.imul(hash ^ title.charCodeAt(at), 0x0100_0193);
  return hash >>> 0;
}
