import type { Steps } from '../records/slices.ts';
import { rarity, weigh } from './bm25.ts';
import { type Closeness, lookCloser } from './closeness.ts';
import type { Collection, IndexedDocument } from './collection.ts';
import type { Term } from './dictionary.ts';
import type { FieldScope } from './field-scope.ts';
import {
  type AddedMeaning,
  addMeanings,
  type PreparedMeaning,
  type RankedQuery,
} from './meaning.ts';
import { documentOf } from './postings.ts';
import type { Concept } from './query.ts';

/** A document that matched. */
export interface Ranked {
  readonly entry: IndexedDocument;
  /** Above 0; 1 for a document whose title is the query, below 1 for every other. */
  readonly score: number;
  /** The parts added to the score of the words, before it is scaled to 1. */
  readonly closeness: Closeness;
  readonly meaning: AddedMeaning;
}

/** A query that `rank` answers. */
export interface RankRequest {
  /** The query as it was asked. */
  readonly text: string;
  /** The query as titles are compared with it. */
  readonly name: string;
  readonly concepts: readonly Concept[];
  /** The fields that count. */
  readonly scope: FieldScope;
  readonly accepts: ((id: string) => boolean) | undefined;
  readonly limit: number;
  /** Signals that change the order of the first hits. */
  readonly meanings: readonly PreparedMeaning[];
}

/** A document and the score of its words. */
type ScoredDocument = Pick<Ranked, 'entry' | 'score'>;

/** Number of documents whose scores are refined. */
const refined = 100;
const notRefined: Closeness = { passage: 0, near: 0, title: 0 };

/**
 * Ranks the documents that match any concept, the best first.
 *
 * BM25 over the weighted sum of the fields ranks all of them; the best are ranked again by where their
 * matches are, and by what the signals of meaning add.
 *
 * @returns at least `limit` of them, or all, how many there are, and the weight of each concept.
 */
export function* rank(
  collection: Collection,
  { text, name, concepts, scope, accepts, limit, meanings }: RankRequest,
): Steps<{ ranked: Ranked[]; total: number; rarities: readonly number[] }> {
  const average = collection.averageLength;
  const scores = new Float64Array(collection.capacity);
  const rarities: number[] = [];
  for (const concept of concepts) {
    const { documents, sums, frequency } = holders(concept, collection, scope);
    const value = concept.weight * rarity(frequency, collection.size);
    rarities.push(value);
    for (const number of documents) {
      const found = weigh(sums[number] ?? 0, scope.length(collection, number), average);
      scores[number] = (scores[number] ?? 0) + value * found;
    }
  }
  const most = rarities.reduce((sum, value) => sum + value, 0);
  const titled = scope.has('title') ? name : undefined;
  const { best, total } = select(collection, scores, titled, accepts, Math.max(limit, refined));
  const ranked: Ranked[] = [];
  for (const [index, { entry, score }] of best.entries()) {
    const closeness =
      index < refined
        ? lookCloser(collection, entry, score, concepts, rarities, scope)
        : notRefined;
    const closer = score + closeness.passage + closeness.near + closeness.title;
    ranked.push({ entry, score: closer, closeness, meaning: {} });
    yield;
  }
  const query = { text, concepts, rarities };
  const meant = meanings.length > 0 ? yield* withMeaning(ranked, meanings, query) : ranked;
  const scaled = meant.map((one) => ({ ...one, score: 1 / (1 + most / (2 * one.score)) }));
  return { ranked: scaled.sort(order), total, rarities };
}

/** Adds what the signals of meaning say about the documents that were refined. */
function* withMeaning(
  ranked: readonly Ranked[],
  meanings: readonly PreparedMeaning[],
  query: RankedQuery,
): Steps<readonly Ranked[]> {
  const first = ranked.slice(0, refined);
  const best = first.reduce(
    (most, { score }) => (Number.isFinite(score) ? Math.max(most, score) : most),
    0,
  );
  const documents = first.map(({ entry }) => entry);
  const added = yield* addMeanings(meanings, query, documents, best);
  return ranked.map((one, index) => {
    const meaning = added[index] ?? {};
    const sum = Object.values(meaning).reduce((total, value) => total + value, 0);
    return { ...one, score: one.score + sum, meaning };
  });
}

/**
 * The documents that match a concept, and the sum of the weights for each document.
 *
 * The document frequency is that of the word itself: a common abbreviation does not make it common.
 */
function holders(
  { terms, ways }: Concept,
  collection: Collection,
  scope: FieldScope,
): { documents: readonly number[]; sums: Float64Array; frequency: number } {
  const sums = new Float64Array(collection.capacity);
  const documents: number[] = [];
  const add = (term: Term, weight: number) => {
    for (const posting of term.postings) {
      const number = documentOf(posting);
      const found = scope.weight(term, posting, collection);
      if (found === 0) continue;
      if (sums[number] === 0) documents.push(number);
      sums[number] = (sums[number] ?? 0) + weight * found;
    }
  };
  const isAbbreviation = (term: Term) => ways.get(term) === 'abbreviation';
  for (const [term, weight] of terms) if (!isAbbreviation(term)) add(term, weight);
  const own = documents.length;
  for (const [term, weight] of terms) if (isAbbreviation(term)) add(term, weight);
  return { documents, sums, frequency: own || documents.length };
}

function order(a: ScoredDocument, b: ScoredDocument): number {
  if (a.score !== b.score) return b.score - a.score;
  return a.entry.id < b.entry.id ? -1 : 1;
}

/** A document by number, before its entry is needed. */
interface Scored {
  readonly number: number;
  readonly id: string;
  readonly score: number;
}

function orderOfScored(a: Scored, b: Scored): number {
  if (a.score !== b.score) return b.score - a.score;
  return a.id < b.id ? -1 : 1;
}

/** The best of all scores, without sorting the many that are not among them. */
function select(
  collection: Collection,
  scores: Float64Array,
  name: string | undefined,
  accepts: ((id: string) => boolean) | undefined,
  limit: number,
): { best: ScoredDocument[]; total: number } {
  let best: Scored[] = [];
  let total = 0;
  let least: Scored | undefined;
  for (let number = 0; number < scores.length; number++) {
    const found = scores[number];
    const id = found ? collection.idOf(number) : undefined;
    if (!found || id === undefined || (accepts && !accepts(id))) continue;
    total += 1;
    const isNamed = name !== undefined && collection.isNamed(number, name);
    const score = isNamed ? Number.POSITIVE_INFINITY : found;
    // Of many equal scores only the first by id are kept: without this, each group would be sorted.
    if (least && (score < least.score || (score === least.score && id > least.id))) continue;
    best.push({ number, id, score });
    if (best.length < 4 * limit) continue;
    best = best.sort(orderOfScored).slice(0, limit);
    least = best.at(-1);
  }
  const ranked: ScoredDocument[] = [];
  for (const { number, score } of best.sort(orderOfScored).slice(0, limit)) {
    const entry = collection.entry(number);
    if (entry) ranked.push({ entry, score });
  }
  return { best: ranked, total };
}
