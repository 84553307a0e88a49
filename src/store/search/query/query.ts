import type { MatchWay } from '../../../core/memory/search-hit.ts';
import type { Steps } from '../../records/slices.ts';
import { rarity } from '../terms/bm25.ts';
import type { Candidate, Dictionary, Term } from '../terms/dictionary.ts';
import { otherForms } from '../text/abbreviations.ts';
import { analyse, type SearchToken, stem } from '../text/analyser.ts';
import { stopWords } from '../text/stop-words.ts';
import { synonymsOf } from '../text/synonyms.ts';

/** The stems of words that mean the same as a word, by its stem. */
export interface Aliases {
  of(term: string): Iterable<string>;
}

/** One thing that the query asks for. */
export interface Concept {
  /** The word of the query. */
  readonly asked: string;
  /** Weight relative to the other concepts, at most 1. */
  readonly weight: number;
  /** The terms that match it, each with its weight, at most 1. */
  readonly terms: ReadonlyMap<Term, number>;
  /** How the terms were found that are not a form of the word. */
  readonly ways: ReadonlyMap<Term, MatchWay>;
}

/** The interpretation of a word of the query. */
interface Reading {
  readonly known: boolean;
  /** The word in the spelling of the index. */
  readonly spelt: string;
  readonly terms: Map<Term, number>;
  readonly ways: Map<Term, MatchWay>;
  /** The likely correction of a known but rare word: also searched, at a lower weight. */
  readonly slip?: Concept;
}

/** Limits of a query: a longer one is a pasted text, of which the first words are enough. */
const mostTokens = 64;
const mostText = 10_000;
/** Weight of a whole identifier relative to its parts, and of a pair of letters to its neighbours. */
const wholeWeight = 0.6;
/** Weight of a synonym or abbreviation of a word, and of the word that an abbreviation is short for. */
const otherWeight = 0.5;
/** Weight of a synonym that the settings of the memory name. */
const aliasWeight = 0.9;
/** Weight of a correction, a completion and a half of an unknown word. */
const correctionWeight = 0.8;
const completionWeight = 0.8;
const halfWeight = 0.5;
const mostCorrections = 3;
/** A longer word is encoded data, which is found as it is: guesses take the square of its length. */
const longestGuess = 80;
/**
 * A word in at most `hardlyKnown` documents may be a typo. Its correction counts in full when it is in
 * `farMore` times as many.
 */
const hardlyKnown = 3;
const farMore = 50;
/** A word between spaces, of letters or of digits. */
const spacedWord = /^\s(?:[a-z]+|\d+)\s$/i;

/** Returns whether a query contains a word that may be misspelt or cut off. */
export function isDoubtful(query: string, dictionary: Dictionary): boolean {
  return contentTokens(query).some(({ token }) => {
    const term = token.kind === 'word' ? dictionary.term(token.term) : undefined;
    return token.kind === 'word' && (term?.postings.length ?? 0) <= hardlyKnown;
  });
}

/**
 * Returns whether the words find every text that contains the query literally.
 *
 * A word of the query with spaces around it is also a word of such a text.
 */
export function hasWholeWord(query: string): boolean {
  return contentTokens(query).some(({ token, start }) => {
    const end = start + token.end - token.start;
    return spacedWord.test(query.slice(Math.max(0, start - 1), end + 1));
  });
}

/**
 * Divides a query into concepts, in the words that the index knows.
 *
 * @param size the number of documents.
 * @param aliases the synonyms of the memory itself.
 */
export function* plan(
  query: string,
  dictionary: Dictionary,
  size: number,
  aliases?: Aliases,
): Steps<Concept[]> {
  const others = (word: string, reading: Pick<Reading, 'terms' | 'ways'>) =>
    addOthers(word, reading, dictionary, size, aliases);
  const readings = new Map<string, Reading>();
  const concepts = new Map<string, Concept>();
  let words: { readonly start: number; readonly reading: Reading }[] = [];
  for (const { token, start } of contentTokens(query)) {
    if (token.kind === 'word') {
      const reading = readings.get(token.term) ?? (yield* read(token, dictionary));
      if (!readings.has(token.term)) {
        // Of a misspelt word, its correction has synonyms.
        const word = reading.known ? token.term : stem(reading.spelt);
        others(word, reading);
      }
      readings.set(token.term, reading);
      const { terms, ways } = reading;
      concepts.set(token.term, { asked: token.word, weight: 1, terms, ways });
      if (reading.slip) concepts.set(`${token.term}?`, reading.slip);
      const previous = words.at(-1)?.reading;
      // A document may write the two as one word, which then counts for both.
      const compound = previous && dictionary.term(stem(previous.spelt + reading.spelt));
      if (compound) {
        for (const half of [previous, reading]) {
          half.terms.set(compound, 1);
          half.ways.set(compound, 'compound');
        }
      }
      words = [...words, { start, reading }];
    } else if (!concepts.has(token.term)) {
      const parts = words.filter((word) => word.start >= start).map(({ reading }) => reading);
      const known = dictionary.term(token.term);
      const term =
        known ?? (token.kind === 'whole' ? repairWhole(token, parts, dictionary) : undefined);
      const terms = new Map<Term, number>(term ? [[term, 1]] : []);
      const ways = new Map<Term, MatchWay>(term && !known ? [[term, 'correction']] : []);
      others(token.term, { terms, ways });
      concepts.set(token.term, { asked: token.word, weight: wholeWeight, terms, ways });
    }
  }
  return [...concepts.values()].filter(({ terms }) => terms.size > 0);
}

/** Whether a term was found as another word than the one that was asked for. */
export function isOther({ ways }: Concept, term: Term): boolean {
  const way = ways.get(term);
  return way === 'abbreviation' || way === 'synonym';
}

/** Adds to a reading of a word its synonyms, what is short for it, and what it is short for. */
function addOthers(
  word: string,
  { terms, ways }: Pick<Reading, 'terms' | 'ways'>,
  dictionary: Dictionary,
  size: number,
  aliases: Aliases | undefined,
): void {
  // First of all: the project knows its own words best.
  for (const form of aliases?.of(word) ?? []) {
    const term = dictionary.term(form);
    if (!term || (terms.get(term) ?? 0) >= aliasWeight) continue;
    terms.set(term, aliasWeight);
    ways.set(term, 'alias');
  }
  const own = dictionary.term(word);
  const value = (term: Term) => rarity(term.postings.length, size);
  const add = (form: string, way: MatchWay) => {
    const term = dictionary.term(form);
    if (!term || terms.has(term)) return;
    // A word that many documents contain says less than the rare one that was asked for.
    const share = own ? Math.min(1, value(term) / value(own)) : 1;
    terms.set(term, otherWeight * share);
    ways.set(term, way);
  };
  for (const form of otherForms(word)) add(form, 'abbreviation');
  for (const form of synonymsOf(word)) add(form, 'synonym');
}

/** The tokens of a query without stop words; all tokens if it has only stop words. */
function contentTokens(query: string): { token: SearchToken; start: number }[] {
  const tokens: { token: SearchToken; start: number }[] = [];
  analyse(query.slice(0, mostText), (token, offset) => {
    if (token.kind !== 'letter') tokens.push({ token, start: token.start + offset });
  });
  const content = tokens.filter(({ token }) => !stopWords.has(token.word));
  return (content.length > 0 ? content : tokens).slice(0, mostTokens);
}

/** Finds the known identifier for an unknown one with a misspelt part. */
function repairWhole(
  token: SearchToken,
  parts: readonly Reading[],
  dictionary: Dictionary,
): Term | undefined {
  if (parts.every((part) => part.known)) return undefined;
  const [whole] = dictionary.corrections(token.word, 1);
  return whole?.word.term ?? dictionary.term(stem(parts.map((part) => part.spelt).join('')));
}

/** Finds a word in the index, or the words that it may be a misspelling, beginning or compound of. */
function* read({ word, term: text }: SearchToken, dictionary: Dictionary): Steps<Reading> {
  const term = dictionary.term(text);
  const mayGuess = word.length <= longestGuess;
  const terms = new Map<Term, number>();
  const ways = new Map<Term, MatchWay>();
  const offer = (known: Term, weight: number, way?: MatchWay) => {
    if (weight <= (terms.get(known) ?? 0)) return;
    terms.set(known, weight);
    if (way) ways.set(known, way);
  };
  if (term) {
    offer(term, 1);
    const uses = term.postings.length;
    const isRare = mayGuess && uses <= hardlyKnown && word.length > 4;
    const near = isRare ? dictionary.corrections(word, mostCorrections) : [];
    const better = near.find((candidate) => candidate.word.term !== term)?.word.term;
    const times = (better?.postings.length ?? 0) / uses;
    if (!better || times < 1) return { known: true, spelt: word, terms, ways };
    if (times >= farMore) offer(better, correctionWeight, 'correction');
    const slip: Concept = {
      asked: word,
      weight: correctionWeight * Math.sqrt(times / farMore),
      terms: new Map([[better, 1]]),
      ways: new Map([[better, 'correction']]),
    };
    return { known: true, spelt: word, terms, ways, ...(times < farMore && { slip }) };
  }
  if (!mayGuess) return { known: false, spelt: word, terms, ways };
  yield;
  const corrections = likelyWords(word, dictionary);
  yield;
  if (corrections.length === 0 && word.length > 4) {
    corrections.push(...dictionary.inflections(word, 3));
  }
  for (const { word: known, likeness } of corrections) {
    offer(known.term, correctionWeight * likeness, 'correction');
  }
  yield;
  const doubt = corrections.length > 0 ? 0.5 : 1;
  for (const { word: known, likeness } of word.length > 2 ? dictionary.completions(word, 8) : []) {
    offer(known.term, doubt * completionWeight * likeness, 'completion');
  }
  if (terms.size === 0) {
    for (const half of dictionary.halves(word)) offer(half.term, halfWeight, 'half');
  }
  return { known: false, spelt: corrections[0]?.word.text ?? word, terms, ways };
}

/** The known words that an unknown one is probably meant to be, the likeliest first. */
function likelyWords(word: string, dictionary: Dictionary): Candidate[] {
  if (word.length > 3) return dictionary.corrections(word, mostCorrections);
  if (word.length < 3) return [];
  // Most words of three letters are one letter away from others, so only a missing letter is likely.
  return dictionary
    .corrections(word, Number.POSITIVE_INFINITY)
    .filter(({ word: { text } }) => text.length > word.length && text[0] === word[0])
    .slice(0, mostCorrections);
}
