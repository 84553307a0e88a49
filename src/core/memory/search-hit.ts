import type { AnyRecordType, SearchFields, TextField } from '../record/record-type.ts';
import type { Damaged } from './listing.ts';

/** A query and its filters. */
export interface SearchRequest {
  /** Words in any order; at least one letter or digit. */
  readonly query: string;
  /** Only records of these types. */
  readonly types?: readonly AnyRecordType[];
  /** Only records of this record type, or whose fields have this type. */
  readonly type?: string;
  /** Only records whose fields have one of these categories. */
  readonly categories?: readonly string[];
  /** Searches only these fields. Default: all fields. */
  readonly fields?: readonly TextField[];
  /** Only the record at this path, those below this folder, or those whose path matches this glob. */
  readonly path?: string;
  /** If false, the query is a literal, case-insensitive substring. Default: true. */
  readonly fuzzy?: boolean;
  /** Maximum number of hits, 1 to 1,000. Default: 20. */
  readonly limit?: number;
  /** Number of the first hits to leave out. Default: 0. */
  readonly offset?: number;
  /**
   * For a text that was not written as a query, such as a prompt: only the records are found that are
   * about it with this certainty or more, by its words alone: 1 is sure. Default: all hits.
   */
  readonly sure?: number;
  /** Whether each hit says why it was found. Default: false. */
  readonly explain?: boolean;
  /**
   * How long to wait for an index that is being made, in milliseconds; the answer then has what is found
   * so far. Default: a second each, and longer for the first records.
   */
  readonly maxWaitMs?: number;
}

/** How the search came from a word of the query to a word of a record. */
export type MatchWay =
  /** The same word, or another form of it. */
  | 'written'
  | 'form'
  /** A likely spelling, a word that begins with it, or one of the two words that it consists of. */
  | 'correction'
  | 'completion'
  | 'half'
  /** One word that the query writes as two. */
  | 'compound'
  /** The short or the full form of the word, such as `db` and `database`. */
  | 'abbreviation'
  /** A word that means about the same. */
  | 'synonym'
  /** A word that the settings of the memory name as a synonym. */
  | 'alias'
  /** The query as a literal text. */
  | 'literal';

/** A word of the query with the words of a record that match it. */
export interface ExplainedWord {
  readonly asked: string;
  readonly found: readonly {
    readonly word: string;
    readonly how: MatchWay;
    readonly fields: readonly TextField[];
  }[];
  /** The part of the score that it adds. */
  readonly added: number;
}

/** Why a record was found: the parts add up to its score. */
export interface SearchExplanation {
  readonly words: readonly ExplainedWord[];
  /** The part of the score that each other signal adds. */
  readonly signals: { readonly [name in SearchSignal]?: number };
  /** For words of the query that the record does not have, those that it has instead. */
  readonly similar?: readonly SimilarWords[];
}

/** A word of the query, and the words of a record that are used most like it, the likest first. */
export interface SimilarWords {
  readonly asked: string;
  readonly found: readonly string[];
}

/**
 * Sources of similarity of meaning.
 *
 * `learned`: vectors learned from the memory and its project. `model`: those of an embedding model.
 */
export type MeaningSignalName = 'learned' | 'model';

/**
 * `same_title`: the title is the query. `meaning`: words of the record that are used like those of the
 * query in texts about software.
 */
export type SearchSignal =
  | 'passage'
  | 'near'
  | 'title'
  | 'fit'
  | 'same_title'
  | 'meaning'
  | MeaningSignalName;

/** A text with the words that stand before it where it is shown: `not chosen`, `why`. */
export interface LabelledText {
  readonly label: string;
  readonly text: string;
}

/** The last change of a record, or of the section that a hit names. */
export interface HitChange {
  /** ISO 8601, UTC; undefined for a change that is not committed. */
  readonly at?: string;
  /** Whether the change may be older, by an unknown person or agent: in a pinned memory. */
  readonly isLatest?: true;
  /** The name of the person or agent that made it; empty if it is not known. */
  readonly by: string;
  /** `git`: it is in a commit that names none of our programs. */
  readonly maker: 'agent' | 'person' | 'git';
  /** By what it was confirmed since; undefined if it was not. */
  readonly confirmed?: 'review' | 'verification' | 'person';
  /** The person who confirmed it as it is, and when: ISO 8601, UTC. */
  readonly confirmation?: { readonly by: string; readonly at: string };
  /** The person or agent that verified it later, if another one made the change. */
  readonly verifier?: Pick<HitChange, 'by' | 'maker'>;
}

export interface SearchHit {
  readonly type: AnyRecordType;
  readonly key: string;
  readonly path: string;
  /** The record's value, as `get` would return it. */
  readonly value: object;
  /** The fields by which it is found. */
  readonly fields: SearchFields;
  /** The dated title of the entry of a log that was found; undefined for a whole record. */
  readonly entry?: string;
  /** 0 to 1, descending; 1 for a key that equals the query. */
  readonly score: number;
  /** The matched words, as the record has them. */
  readonly matches: readonly string[];
  /** The answer of the record, or the sentences of it that answer the query best. */
  readonly snippet: string;
  /** The reason, if words of the query are in it and not in the answer. */
  readonly reason?: LabelledText;
  /** The alternatives that were not chosen, if words of the query are in it and not in the answer. */
  readonly rejected?: LabelledText;
  /** The state of the record or of the decision, as it is written: `superseded`, `in_progress`. */
  readonly state?: string;
  /** Its last change; undefined if it is not known. */
  readonly changed?: HitChange;
  /** Its title, or that of the entry of a log, if only sure hits are wanted. */
  readonly title?: string;
  /** The section that it is from, for markdown with headings, in the form that readers take. */
  readonly section?: string;
  /** The first and last line of the section in the text, from 1. */
  readonly lines?: readonly [from: number, to: number];
  /** Other sections of the record that match nearly as well, the best first. */
  readonly also?: readonly string[];
  /** The address of a later hit on the same subject that follows: what this one says may be over. */
  readonly later?: string;
  /** A number that about equally good hits on one subject have in common. */
  readonly group?: number;
  /** Why a reader should not rely on the record; undefined if nothing is known against it. */
  readonly caution?: readonly string[];
  /** Why it was found, if the request asks for it. */
  readonly explanation?: SearchExplanation;
}

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** Number of records and entries of logs that matched, including those beyond the limit. */
  readonly total: number;
  readonly damaged: readonly Damaged[];
  /** Records that are not in the index; undefined if all are. */
  readonly leftOut?: LeftOut;
  /** Number of records that the index, which is being made, will get; undefined if it has all. */
  readonly unread?: number;
}

/** Records that a search by words does not find: large ones, or more than an index may hold. */
export interface LeftOut {
  readonly records: number;
  /** Number of them that this search has read, to find the literal text. */
  readonly read: number;
  /** Some of their paths. */
  readonly paths: readonly string[];
}

/** A hit in a file of the project; its path is that of the record that the file belongs to. */
export interface FileHit extends SearchHit {
  readonly file: string;
}
