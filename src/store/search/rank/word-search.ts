import { withoutDate } from '../../../core/markdown/title-date.ts';
import type { SearchExplanation } from '../../../core/memory/search-hit.ts';
import type { RecordAddress } from '../../../core/names/record-address.ts';
import type { TextField } from '../../../core/record/record-type.ts';
import type { Steps } from '../../records/slices.ts';
import type { PreparedMeaning } from '../meaning/meaning.ts';
import type { WordTable } from '../meaning/word-table.ts';
import { type RatedEntry, ratedEntries } from '../passage/rated-entries.ts';
import { excerpt } from '../passage/snippet.ts';
import { AskedTerms } from '../query/asked-terms.ts';
import { FieldScope } from '../query/field-scope.ts';
import { type Aliases, type Concept, isDoubtful, plan } from '../query/query.ts';
import { type Hit, type Hits, plain } from '../terms/search-document.ts';
import type { IndexedDocument, SearchedCollection } from '../terms/searched-collection.ts';
import type { CommonWords } from '../text/common-words.ts';
import { type DatedEntry, entriesOf, entryHeading } from '../text/log-entries.ts';
import type { OutlineOf } from '../text/passage-area.ts';
import { type HitCandidate, newestFirst } from './near-equals.ts';
import { type Ranked, rank } from './ranking.ts';
import { type Subject, type SubjectOwner, subjectOf } from './subject.ts';
import { sureHits } from './sure-hits.ts';

const usualLimit = 20;
/** Number of documents that are compared closely with a query, and with one that wants sure hits only. */
const mostRefined = 50;
const refinedForSure = 12;

export interface WordSearchOptions {
  /** Only documents whose id it accepts are found and counted. */
  readonly filter?: (id: string) => boolean;
  /** At most this many hits. Default 20. */
  readonly limit?: number;
  /** Number of the first hits to leave out. Default 0. */
  readonly offset?: number;
  /** The least certainty of the hits, if only sure ones are wanted; see `sureHits`. */
  readonly sure?: number;
  /** The weights of the words that say little in the project, for sure hits. */
  readonly common?: CommonWords;
  /** Only matches in these fields count. Default: all fields. */
  readonly fields?: readonly TextField[];
  /** Signals that change the order of the first hits. */
  readonly meanings?: readonly PreparedMeaning[];
  /** Vectors of words, for what the words of the query do not find. */
  readonly table?: WordTable | undefined;
  /** The synonyms of the memory itself. */
  readonly aliases?: Aliases | undefined;
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

/** A hit whose text is not chosen yet: a document, or an entry of a log. */
export interface RankedHit {
  readonly id: string;
  readonly title: string;
  /** As it is shown. */
  readonly score: number;
  readonly document: IndexedDocument;
  /** The entry of a log. */
  readonly entry: DatedEntry | undefined;
  /** Makes the hit, with the passage of its text that answers the query best. */
  hit(): Steps<Hit>;
}

/** The hits of a query by words, the best first. */
export interface FoundByWords {
  readonly found: readonly RankedHit[];
  /** Number of all documents and entries that matched. */
  readonly total: number;
  /** Number of those that were found by meaning alone. */
  readonly alone: number;
}

/** Finds the documents that have words of a query, the best first; equally good ones by id. */
export function* searchByWords(
  collection: SearchedCollection,
  query: string,
  options: WordSearchOptions,
  outlineOf: OutlineOf,
  explain?: Explain,
): Steps<Hits & { readonly alone: number }> {
  const { found, total, alone } = yield* findByWords(
    collection,
    query,
    options,
    outlineOf,
    explain,
  );
  const { limit = usualLimit, offset = 0 } = options;
  const hits: Hit[] = [];
  for (const one of found.slice(offset, offset + limit)) hits.push(yield* one.hit());
  return { hits, total, alone };
}

/**
 * Ranks the documents and the entries of logs that have words of a query; their hits can be made one by
 * one. Of about equally good ones on one subject, the newest is first.
 */
export function* findByWords(
  collection: SearchedCollection,
  query: string,
  options: WordSearchOptions,
  outlineOf: OutlineOf,
  explain?: Explain,
): Steps<FoundByWords> {
  const { filter, limit = usualLimit, offset = 0 } = options;
  const scope = new FieldScope(options.fields);
  const { dictionary } = collection;
  if (isDoubtful(query, dictionary)) yield* dictionary.preparing();
  const concepts = yield* plan(query, dictionary, collection.size, options.aliases);
  const asked = new AskedTerms(concepts, dictionary.termCount);
  const name = plain(query);
  const { ranked, total, alone, rarities } = yield* rank(collection, {
    text: query,
    name,
    concepts,
    asked,
    scope,
    accepts: filter,
    limit: offset + limit,
    refined: options.sure ? refinedForSure : mostRefined,
    meanings: options.meanings ?? [],
    table: options.sure ? undefined : options.table,
  });
  const wanted = {
    concepts,
    asked,
    rarities,
    scope,
    asksWhy: why.test(query),
    atLength: options.sure !== undefined,
  };
  const subjects = new Map<SubjectOwner, () => Subject>();
  const about = (owner: SubjectOwner) => {
    const known = subjects.get(owner) ?? lazy(() => subjectOf(owner, asked, collection));
    subjects.set(owner, known);
    return known;
  };
  const candidates: WordCandidate[] = [];
  let entries = 0;
  for (const one of ranked) {
    const { id, fields } = one.entry;
    const isNamed = one.score === 1;
    const own = isNamed || !scope.has('body') ? [] : entriesOf(fields, outlineOf);
    const rated =
      own.length > 0
        ? yield* ratedEntries(
            one.entry,
            own,
            wanted,
            outlineOf,
            ({ section }) => about(section)().fit,
          )
        : [];
    if (rated.length === 0) {
      const subject = about(one.entry);
      candidates.push({ id, one, score: one.score, at: fields.at, isNamed, subject });
    }
    for (const found of rated) {
      const { entry, share } = found;
      const { section } = entry;
      const { heading } = section;
      const isNamed = plain(withoutDate(heading)) === name || plain(heading) === name;
      const score = isNamed ? 1 : share * one.score;
      candidates.push({
        id,
        one,
        score,
        at: entry.at,
        isNamed,
        subject: about(section),
        rated: found,
      });
    }
    entries += Math.max(0, rated.length - 1);
  }
  candidates.sort(
    (a, b) => shownOf(b.score) - shownOf(a.score) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
  let last: { readonly id: string; readonly score: number } | undefined;
  const found = newestFirst(candidates).map(({ candidate, score, group, findLater }): RankedHit => {
    const { id, one, rated, isNamed } = candidate;
    let shown = Math.min(shownOf(score), last?.score ?? 1e4);
    // Hits of one score are in the order of their ids, also where they are sorted again.
    if (group !== undefined && !isNamed && last && last.score === shown && last.id > id) shown -= 1;
    last = { id, score: shown };
    const entry = rated?.entry.section.heading;
    return {
      id,
      title: entry ?? one.entry.fields.title,
      score: shown / 1e4,
      document: one.entry,
      entry: rated?.entry,
      *hit() {
        const { text, isListed, matches } = yield* excerpt(one.entry, wanted, outlineOf, rated);
        const own = isListed ? '' : one.entry.fields.title;
        const later = findLater();
        const explanation = explain?.({ ...one, score }, concepts, rarities, scope);
        const named = entry ?? entryHeading(text.section);
        return {
          id,
          ...(named !== undefined && { entry: named }),
          score: shown / 1e4,
          ...(options.sure && { title: rated?.entry.section.heading ?? own }),
          ...text,
          matches,
          ...(later && { later: addressOf(later) }),
          ...(group !== undefined && { group }),
          ...(explanation && { explanation }),
        };
      },
    };
  });
  if (!options.sure) {
    return { found: found.slice(0, offset + limit), total: total + entries, alone };
  }
  const sure = yield* sureHits(found, query, collection, options.sure, options.common ?? new Map());
  return { found: sure.slice(0, offset + limit), total: sure.length, alone: 0 };
}

/** A document, or an entry of one, in the form that `newestFirst` orders. */
interface WordCandidate extends HitCandidate {
  readonly one: Ranked;
  readonly rated?: RatedEntry;
}

/** Returns a function that computes a value when it is first called. */
function lazy<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}

/** A score as it is shown, in ten-thousandths. */
function shownOf(score: number): number {
  return Math.round(1e4 * score);
}

function addressOf({ id, rated }: WordCandidate): RecordAddress {
  return { path: id, section: rated?.entry.section.path };
}
