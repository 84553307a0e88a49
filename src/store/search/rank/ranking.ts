import type { Steps } from '../../records/slices.ts';
import { askedMeaning, hasMeaning } from '../meaning/asked-meaning.ts';
import {
  type AddedMeaning,
  addMeanings,
  type PreparedMeaning,
  type RankedQuery,
} from '../meaning/meaning.ts';
import { rateMeaning } from '../meaning/table-meaning.ts';
import type { WordTable } from '../meaning/word-table.ts';
import type { AskedTerms } from '../query/asked-terms.ts';
import { fieldFit } from '../query/field-fit.ts';
import type { FieldScope } from '../query/field-scope.ts';
import { type Concept, isOther } from '../query/query.ts';
import { rarity, weigh } from '../terms/bm25.ts';
import type { Term } from '../terms/dictionary.ts';
import { documentOf } from '../terms/postings.ts';
import type { IndexedDocument, SearchedCollection } from '../terms/searched-collection.ts';
import { type Closeness, lookCloser } from './closeness.ts';

/** A document that matched. */
export interface Ranked {
  readonly entry: IndexedDocument;
  /** Above 0; 1 for a document whose title is the query, below 1 for every other. */
  readonly score: number;
  /** The parts added to the score of the words, before it is scaled to 1. */
  readonly closeness: Closeness;
  /** The part added for a field that is about little else than the query. */
  readonly fit: number;
  readonly meaning: AddedMeaning;
  /** The part added for the meaning of the query, and the share of all others that counts next to it. */
  readonly meant: number;
  readonly share: number;
}

/** A query that `rank` answers. */
export interface RankRequest {
  /** The query as it was asked. */
  readonly text: string;
  /** The query as titles are compared with it. */
  readonly name: string;
  readonly concepts: readonly Concept[];
  /** The terms of the concepts. */
  readonly asked: AskedTerms;
  /** The fields that count. */
  readonly scope: FieldScope;
  readonly accepts: ((id: string) => boolean) | undefined;
  readonly limit: number;
  /** Number of documents whose scores are refined. */
  readonly refined: number;
  /** Signals that change the order of the first hits. */
  readonly meanings: readonly PreparedMeaning[];
  /** Vectors of words, for what the words of the query do not find. */
  readonly table: WordTable | undefined;
}

/** A document and the score of its words. */
type ScoredDocument = Pick<Ranked, 'entry' | 'score'>;

const notRefined: Closeness = { passage: 0, near: 0, title: 0 };
/** The share of the best score that a field adds of which every word was asked for. */
const fitWeight = 0.25;
/** Number of documents that are found by meaning alone. */
const mostMeant = 10;

/**
 * Ranks the documents that match any concept, the best first.
 *
 * BM25 over the weighted sum of the fields ranks all of them; the best are ranked again by where their
 * matches are, and by what the signals of meaning add.
 *
 * @returns at least `limit` of them, or all, how many there are, and the weight of each concept.
 */
export function* rank(
  collection: SearchedCollection,
  { text, name, concepts, asked, scope, accepts, limit, refined, meanings, table }: RankRequest,
): Steps<RankResult> {
  const average = collection.averageLength;
  const scores = new Float64Array(collection.capacity);
  const rarities: number[] = [];
  // The sums of one concept, which are 0 again before the next one.
  const sums = new Float64Array(collection.capacity);
  for (const concept of concepts) {
    const { documents, frequency } = holders(concept, collection, scope, sums);
    const value = concept.weight * rarity(frequency, collection.size);
    rarities.push(value);
    // An iterator would take several times as long in a short process.
    for (let at = 0; at < documents.length; at++) {
      const number = documents[at] as number;
      const found = weigh(sums[number] ?? 0, scope.length(collection, number), average);
      scores[number] = (scores[number] ?? 0) + value * found;
      sums[number] = 0;
    }
  }
  const most = rarities.reduce((sum, value) => sum + value, 0);
  const titled = scope.has('title') ? name : undefined;
  const { best, total } = select(collection, scores, titled, accepts, Math.max(limit, refined));
  const ranked: Ranked[] = [];
  for (const [index, { entry, score }] of best.entries()) {
    const closeness =
      index < refined ? lookCloser(collection, entry, score, asked, rarities, scope) : notRefined;
    const closer = score + closeness.passage + closeness.near + closeness.title;
    ranked.push({ entry, score: closer, closeness, fit: 0, meaning: {}, meant: 0, share: 1 });
    yield;
  }
  const top = bestOf(ranked.slice(0, refined));
  for (const [index, one] of ranked.slice(0, refined).entries()) {
    const fit = fitWeight * top * fieldFit(one.entry, asked, collection.dictionary, scope);
    ranked[index] = { ...one, score: one.score + fit, fit };
  }
  const termText = (number: number) => collection.dictionary.termText(number);
  const query = { text, concepts, rarities, termText };
  const meant =
    meanings.length > 0 && hasMeaning(text)
      ? yield* withMeaning(ranked, refined, meanings, query, top)
      : ranked;
  const isNamed = meant.some(({ score }) => score === Number.POSITIVE_INFINITY);
  const found =
    table && !isNamed
      ? yield* withTable(table, collection, meant, query, { most, scores, accepts, scope })
      : meant;
  // Without a word that is known, meaning has a scale of its own.
  const unit = most || 1;
  const scaled = found.map((one) => ({ ...one, score: 1 / (1 + unit / (2 * one.score)) }));
  const alone = found.reduce((sum, { entry }) => sum + (scores[entry.number] === 0 ? 1 : 0), 0);
  return { ranked: scaled.sort(order), total: total + alone, alone, rarities };
}

/** Documents by rank. */
export interface RankResult {
  readonly ranked: Ranked[];
  /** Number of all documents that were found, and of those that were found by meaning alone. */
  readonly total: number;
  readonly alone: number;
  readonly rarities: readonly number[];
}

/** The scores of the words of a query, by the number of the document, and the most that they can be. */
interface WordScores {
  readonly scores: Float64Array;
  readonly most: number;
}

/** Adds what the table of words says about all documents, and the ones that only it finds. */
function* withTable(
  table: WordTable,
  collection: SearchedCollection,
  ranked: readonly Ranked[],
  query: RankedQuery,
  { most, scores, accepts, scope }: WordScores & Pick<RankRequest, 'accepts' | 'scope'>,
): Steps<readonly Ranked[]> {
  if (!scope.isWhole) return ranked;
  const asked = askedMeaning(query.text, query.concepts, table, collection);
  if (!asked) return ranked;
  const unit = most || 1;
  const best = bestOf(ranked) / unit;
  const rated = yield* rateMeaning(table, collection, asked, best, accepts);
  if (!rated) return ranked;
  const { share, added } = rated;
  const own = new Set(ranked.map(({ entry }) => entry.number));
  const gain = (number: number) => unit * (added[number] ?? 0);
  const found = ranked.map((one) => {
    const meant = gain(one.entry.number);
    const score = share * one.score + meant;
    return { ...one, score, share, meant };
  });
  for (const number of bestMeant(added, own, collection)) {
    const entry = collection.entry(number);
    if (!entry) continue;
    const meant = gain(number);
    const score = share * (scores[number] ?? 0) + meant;
    found.push({ entry, score, closeness: notRefined, fit: 0, meaning: {}, meant, share });
  }
  return found;
}

/** The best score, except for that of a title that equals the query. */
function bestOf(ranked: readonly Ranked[]): number {
  return ranked.reduce(
    (most, { score }) => (Number.isFinite(score) ? Math.max(most, score) : most),
    0,
  );
}

/** Adds what the signals of meaning say about the documents that were refined. */
function* withMeaning(
  ranked: readonly Ranked[],
  refined: number,
  meanings: readonly PreparedMeaning[],
  query: RankedQuery,
  best: number,
): Steps<readonly Ranked[]> {
  const documents = ranked.slice(0, refined).map(({ entry }) => entry);
  const added = yield* addMeanings(meanings, query, documents, best);
  return ranked.map((one, index) => {
    const meaning = added[index] ?? {};
    const sum = Object.values(meaning).reduce((total, value) => total + value, 0);
    return { ...one, score: one.score + sum, meaning };
  });
}

/** The documents with the most meaning, except for those that the words have ranked. */
function bestMeant(
  added: Float64Array,
  ranked: ReadonlySet<number>,
  collection: SearchedCollection,
): readonly number[] {
  const idOf = (number: number) => collection.idOf(number) ?? '';
  const order = (a: number, b: number) =>
    (added[b] ?? 0) - (added[a] ?? 0) || (idOf(a) < idOf(b) ? -1 : 1);
  const best: number[] = [];
  let least = 0;
  for (let number = 0; number < added.length; number++) {
    const value = added[number] as number;
    if (value === 0 || value < least || ranked.has(number)) continue;
    best.push(number);
    if (best.length < 4 * mostMeant) continue;
    best.sort(order).length = mostMeant;
    least = added[best.at(-1) ?? 0] ?? 0;
  }
  return best.sort(order).slice(0, mostMeant);
}

/**
 * The documents that match a concept; adds up the weights for each document.
 *
 * The document frequency is that of the word itself: a common synonym does not make it common.
 */
function holders(
  concept: Concept,
  collection: SearchedCollection,
  scope: FieldScope,
  sums: Float64Array,
): { documents: readonly number[]; frequency: number } {
  const documents: number[] = [];
  const add = (term: Term, weight: number) => {
    const { postings } = term;
    for (let at = 0; at < postings.length; at++) {
      const posting = postings[at] as number;
      const number = documentOf(posting);
      const found = scope.weight(term, posting, collection);
      if (found === 0) continue;
      const sum = sums[number] as number;
      if (sum === 0) documents.push(number);
      sums[number] = sum + weight * found;
    }
  };
  for (const [term, weight] of concept.terms) if (!isOther(concept, term)) add(term, weight);
  const own = documents.length;
  for (const [term, weight] of concept.terms) if (isOther(concept, term)) add(term, weight);
  return { documents, frequency: own || documents.length };
}

function order(a: ScoredDocument, b: ScoredDocument): number {
  if (a.score !== b.score) return b.score - a.score;
  return a.entry.id < b.entry.id ? -1 : 1;
}

/** The best of all scores, without sorting the many that are not among them. */
function select(
  collection: SearchedCollection,
  scores: Float64Array,
  name: string | undefined,
  accepts: ((id: string) => boolean) | undefined,
  limit: number,
): { best: ScoredDocument[]; total: number } {
  const idOf = (number: number) => collection.idOf(number) ?? '';
  const scoreOf = (number: number) => scores[number] as number;
  // A stored id takes time to read, and few are needed.
  const byScore = (a: number, b: number) => {
    const one = scoreOf(a);
    const other = scoreOf(b);
    return one === other ? (idOf(a) < idOf(b) ? -1 : 1) : other - one;
  };
  let best: number[] = [];
  let total = 0;
  let last = -1;
  let least = 0;
  for (let number = 0; number < scores.length; number++) {
    if (scores[number] === 0 || !collection.has(number)) continue;
    if (accepts && !accepts(idOf(number))) continue;
    total += 1;
    if (name !== undefined && collection.isNamed(number, name)) {
      scores[number] = Number.POSITIVE_INFINITY;
    }
    const score = scores[number] as number;
    if (score < least) continue;
    // Of many equal scores only the first by id are kept: without this, each group would be sorted.
    if (score === least && byScore(number, last) > 0) continue;
    best.push(number);
    if (best.length < 4 * limit) continue;
    best = best.sort(byScore).slice(0, limit);
    last = best.at(-1) ?? -1;
    least = scoreOf(last);
  }
  const ranked: ScoredDocument[] = [];
  for (const number of best.sort(byScore).slice(0, limit)) {
    const entry = collection.entry(number);
    if (entry) ranked.push({ entry, score: scoreOf(number) });
  }
  return { best: ranked, total };
}
