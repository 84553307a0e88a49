import type { Concept } from '../query/query.ts';
import { rarity } from '../terms/bm25.ts';
import type { SearchedCollection } from '../terms/searched-collection.ts';
import { analyse } from '../text/analyser.ts';
import { stopWords } from '../text/stop-words.ts';
import { type AskedKind, askedKinds } from './asked-kinds.ts';
import { tableDimensions } from './packed-vector.ts';
import { toUnit } from './unit-vector.ts';
import type { WordTable } from './word-table.ts';

/** Limits of a query: of a longer one the first words are enough. */
const mostText = 10_000;
const mostWords = 64;
/** Identifiers, paths, versions, numbers and quoted phrases are decided by their letters alone. */
const literalParts =
  /"[^"]*"|`[^`]*`|\S*(?:[\p{N}_/\\@:.]|\p{Ll}\p{Lu})\S*[^\s.:?!,;]\S*|\S*\p{N}\S*/gu;

/** A word of a query that has a vector. */
export interface AskedWord {
  readonly word: string;
  readonly term: string;
  readonly place: number;
}

/** The meaning of a query, as far as the table of words knows it. */
export interface AskedMeaning {
  readonly words: readonly AskedWord[];
  readonly kinds: readonly AskedKind[];
  /** The sum of the rarities of all words. */
  readonly rarity: number;
  /** The sum of the words, of length 1. */
  readonly vector: Float64Array;
  /** The share of the words that have a vector, by rarity. */
  readonly covered: number;
  /** The share of the words that the memory has, by rarity; also of the parts that are decided by their letters. */
  readonly known: number;
}

/** Returns whether a query has words, and not only parts that are decided by their letters. */
export function hasMeaning(query: string): boolean {
  return /\p{L}/u.test(withoutLiterals(query));
}

function withoutLiterals(query: string): string {
  return query.slice(0, mostText).replace(literalParts, ' ');
}

/** Reads the meaning of a query; undefined if none of its words has one, or the memory has its only word. */
export function askedMeaning(
  query: string,
  concepts: readonly Concept[],
  table: WordTable,
  collection: SearchedCollection,
): AskedMeaning | undefined {
  const { dictionary, size } = collection;
  const text = withoutLiterals(query);
  const found = new Set(concepts.map(({ asked }) => asked));
  const aliased = new Set(concepts.filter(hasAlias).map(({ asked }) => asked));
  const seen = new Set<string>();
  const words: AskedWord[] = [];
  const vector = new Float64Array(tableDimensions);
  const sums = { all: 0, covered: 0, known: 0 };
  analyse(text, ({ kind, word, term }) => {
    if (kind === 'letter' || kind === 'whole' || stopWords.has(word)) return;
    if (seen.has(term) || seen.size === mostWords) return;
    seen.add(term);
    const own = dictionary.term(term);
    const value = rarity(own?.postings.length ?? 0, size);
    sums.all += value;
    const place = table.placeOf(term);
    // A word that the table has is not a misspelling of another one.
    const isKnown = own || aliased.has(word) || (place < 0 && found.has(word));
    if (isKnown) sums.known += value;
    if (place < 0) return;
    sums.covered += value;
    words.push({ word, term, place });
    table.addTo(vector, place, value);
  });
  const literal = literalRarity(query, seen, collection);
  sums.all += literal;
  sums.known += literal;
  // The records that have the only word answer the query.
  if (seen.size === 1 && sums.known === sums.all) return undefined;
  if (words.length === 0 || !toUnit(vector)) return undefined;
  return {
    words,
    kinds: askedKinds(seen),
    rarity: sums.all,
    vector,
    covered: sums.covered / sums.all,
    known: sums.known / sums.all,
  };
}

/**
 * The sum of the rarities of what the memory has of the parts that are decided by their letters.
 *
 * They have no meaning, but a memory that has them has answered so much of the query.
 */
function literalRarity(
  query: string,
  words: ReadonlySet<string>,
  { dictionary, size }: SearchedCollection,
): number {
  const parts = query.slice(0, mostText).match(literalParts) ?? [];
  const found = new Map<string, number>();
  analyse(parts.join(' '), ({ kind, word, term }) => {
    if (kind === 'letter' || stopWords.has(word) || words.has(term)) return;
    const own = found.size < mostWords ? dictionary.term(term) : undefined;
    if (own) found.set(term, rarity(own.postings.length, size));
  });
  return [...found.values()].reduce((sum, value) => sum + value, 0);
}

/** Whether the memory has a word that its own settings name as a synonym. */
function hasAlias({ ways }: Concept): boolean {
  return [...ways.values()].includes('alias');
}
