import type { SearchExplanation } from '../../../core/memory/store.ts';
import type { TextField } from '../../../core/record/record-type.ts';
import type { Steps } from '../../records/slices.ts';
import type { PreparedMeaning } from '../meaning/meaning.ts';
import { excerpt } from '../passage/snippet.ts';
import { AskedTerms } from '../query/asked-terms.ts';
import { FieldScope } from '../query/field-scope.ts';
import { type Concept, isDoubtful, plan } from '../query/query.ts';
import { type Hit, type Hits, plain } from '../terms/search-document.ts';
import type { SearchedCollection } from '../terms/searched-collection.ts';
import type { OutlineOf } from '../text/passage-area.ts';
import { type Ranked, rank } from './ranking.ts';

export interface WordSearchOptions {
  /** Only documents whose id it accepts are found and counted. */
  readonly filter?: (id: string) => boolean;
  /** At most this many hits. Default 20. */
  readonly limit?: number;
  /** How many documents are compared closely with the query. Default 50. */
  readonly refined?: number;
  /** Only matches in these fields count. Default: all fields. */
  readonly fields?: readonly TextField[];
  /** Signals that change the order of the first hits. */
  readonly meanings?: readonly PreparedMeaning[];
}

/** A question for a reason. */
const why =
  /(?:^|[\s¿])(?:why|how come|reasons? (?:for|behind|why)|warum|wieso|weshalb|pourquoi|por qu[eé]|почему|зачем)(?=[\s,?!]|$)|为什么|為什麼|为何|なぜ|どうして/i;

/** Says why a document was found. */
export type Explain = (
  one: Ranked,
  concepts: readonly Concept[],
  rarities: readonly number[],
  scope: FieldScope,
) => SearchExplanation;

/** The documents that have words of a query, without their passages. */
export interface FoundByWords {
  /** The best first, at most as many as were asked for. */
  readonly ranked: readonly Ranked[];
  readonly total: number;
  /** Makes the hit of a document, with the passage of its text that answers the query best. */
  hit(one: Ranked): Steps<Hit>;
}

/** Finds the documents that have words of a query, the best first; equally good ones by id. */
export function* searchByWords(
  collection: SearchedCollection,
  query: string,
  options: WordSearchOptions,
  outlineOf: OutlineOf,
  explain?: Explain,
): Steps<Hits> {
  const { ranked, total, hit } = yield* findByWords(collection, query, options, outlineOf, explain);
  const hits: Hit[] = [];
  for (const one of ranked) hits.push(yield* hit(one));
  return { hits, total };
}

/** Ranks the documents that have words of a query; their hits can be made one by one. */
export function* findByWords(
  collection: SearchedCollection,
  query: string,
  options: WordSearchOptions,
  outlineOf: OutlineOf,
  explain?: Explain,
): Steps<FoundByWords> {
  const { filter, limit = 20 } = options;
  const scope = new FieldScope(options.fields);
  const { dictionary } = collection;
  if (isDoubtful(query, dictionary)) yield* dictionary.preparing();
  const concepts = yield* plan(query, dictionary, collection.size);
  const asked = new AskedTerms(concepts, dictionary.termCount);
  const { ranked, total, rarities } = yield* rank(collection, {
    text: query,
    name: plain(query),
    concepts,
    asked,
    scope,
    accepts: filter,
    limit,
    refined: options.refined,
    meanings: options.meanings ?? [],
  });
  const wanted = { concepts, asked, rarities, scope, asksWhy: why.test(query) };
  return {
    ranked: ranked.slice(0, limit),
    total,
    *hit(one) {
      const { id } = one.entry;
      const found = yield* excerpt(one.entry, wanted, outlineOf);
      const explanation = explain?.(one, concepts, rarities, scope);
      return { id, score: shownScore(one), ...found, ...(explanation && { explanation }) };
    },
  };
}

/** The score of a hit, as it is shown. */
export function shownScore({ score }: Ranked): number {
  return Math.round(1e4 * score) / 1e4;
}
