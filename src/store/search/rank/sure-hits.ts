import type { Steps } from '../../records/slices.ts';
import { weightOf } from '../terms/postings.ts';
import { fieldNames, fieldWeights } from '../terms/search-document.ts';
import type { IndexedDocument, SearchedCollection } from '../terms/searched-collection.ts';
import { visitTokens } from '../terms/token-places.ts';
import { analyse } from '../text/analyser.ts';
import type { CommonWords } from '../text/common-words.ts';
import { isEveryday, isEverydayPair } from '../text/everyday-words.ts';
import type { DatedEntry } from '../text/log-entries.ts';
import { stopWords } from '../text/stop-words.ts';

/** Number of the first hits that are looked at, and of the words of a text. */
const mostHits = 12;
const mostWords = 64;
/** Words count together if they are in a range of so many tokens, or in the title. */
const range = 40;
/** Length of a passage in tokens: a word that many passages have says little. */
const passageLength = 60;
/** Least number of passages: a smaller memory is taken for one of this size. */
const leastPassages = 30;
/** Weight of a word that any project uses, and of a number or a single letter. */
const everydayWeight = 0.3;
const signWeight = 0.1;
/** Weight of two letters that the memory does not have together: most are of two words. */
const unknownPairWeight = 0.2;
/** Weight of two letters of Katakana, which writes a word with more of them. */
const katakanaWeight = 0.5;
/** Least weight of a telling word, and of one that is the whole text. */
const leastTelling = 0.05;
const leastAlone = 0.5;
/** The heaviest evidence, and the number of words, beyond which more of it does not count. */
const mostWeight = 2.5;
const mostFound = 5;
/** The worth of each part of the evidence; 1 is sure. They were fitted to labelled prompts. */
const parts = { weight: 0.57, share: 0.31, words: 0.07, title: 0.46 } as const;
/**
 * The certainty that a hit loses with each doubling of its length beyond the usual one, in characters: a
 * longer one has more places at which words of any text meet.
 */
const usualLength = 900;
const lostByDoubling = 0.05;
/** Hits that are less certain than this share of the most certain one are left out. */
const reach = 0.8;

/** A hit that may be sure. */
interface FoundHit {
  readonly document: IndexedDocument;
  /** The entry of a log. */
  readonly entry: DatedEntry | undefined;
  readonly title: string;
  /** As it is shown. */
  readonly score: number;
}

/**
 * Returns the hits that are surely about a text which was not written as a query, the surest first.
 *
 * Any long record shares some words with any text. A hit is sure if it has at least two words of the text
 * close together, and if they are rare, a large part of the text, several, or the title. Corrections and
 * synonyms are not evidence: with them, twice as many texts that a record is not about got one.
 */
export function* sureHits<T extends FoundHit>(
  found: readonly T[],
  text: string,
  collection: SearchedCollection,
  leastCertainty: number,
  common: CommonWords,
): Steps<T[]> {
  const words = new TextWords(text, collection, common);
  const rated: { readonly hit: T; readonly certainty: number }[] = [];
  for (const hit of found.slice(0, mostHits)) {
    // Sums of the same weights in another order differ in their last digits.
    const certainty = Number((yield* words.certaintyOf(hit)).toFixed(9));
    rated.push({ hit, certainty });
  }
  rated.sort((a, b) => b.certainty - a.certainty);
  const least = Math.max(leastCertainty, reach * (rated[0]?.certainty ?? 0));
  return rated.filter(({ certainty }) => certainty >= least).map(({ hit }) => hit);
}

/** The words of a text, and how much each of them tells. */
class TextWords {
  readonly #collection: SearchedCollection;
  /** The weights of the words that the memory has, by the number of the term. */
  readonly #weights = new Map<number, number>();
  /** The sum of the weights of all words, also of those that the memory does not have. */
  #sum = 0;

  constructor(text: string, collection: SearchedCollection, common: CommonWords) {
    this.#collection = collection;
    const seen = new Set<string>();
    analyse(text, ({ kind, word, term }) => {
      if (kind === 'letter' || stopWords.has(word) || seen.has(term)) return;
      if (seen.size === mostWords) return;
      const known = collection.dictionary.term(term);
      // Of an identifier that the memory does not have, the parts are enough.
      if (kind === 'whole' && !known) return;
      seen.add(term);
      let weight = kind === 'pair' ? pairWeight(word, !!known) : wordWeight(word, term);
      weight *= common.get(term) ?? 1;
      if (known) {
        weight *= this.#rarity(known.postings);
        this.#weights.set(known.number, weight);
      }
      this.#sum += weight;
    });
  }

  /** The rarity of a word among the passages of the memory, 0 to 1. */
  #rarity(postings: readonly number[]): number {
    const { averageLength, size } = this.#collection;
    const passages = Math.max(leastPassages, size, (averageLength * size) / passageLength);
    let holders = 0;
    for (const posting of postings) {
      // A record that is about a word repeats it in one passage.
      const uses = Math.max(1, weightOf(posting) / fieldWeights.body);
      holders += 1 + 0.7 * Math.log2(uses);
    }
    const most = Math.log(1 + (passages - 0.5) / 1.5);
    const found = Math.log(1 + Math.max(0, passages - holders + 0.5) / (holders + 0.5));
    return Math.min(1, found / most);
  }

  /** How certain it is that a hit is about the text; 1 is sure. */
  *certaintyOf({ document, entry, title, score }: FoundHit): Steps<number> {
    const titled = this.#titled(title);
    const found = yield* this.#densest(document, entry, titled.found);
    const weight = this.#weightOf(found);
    const telling = [...found].filter((word) => (this.#weights.get(word) ?? 0) >= leastTelling);
    if (telling.length < 2 && (score < 1 || weight < leastAlone)) return 0;
    return (
      parts.weight * Math.sqrt(Math.min(mostWeight, weight)) +
      parts.share * (weight / this.#sum) +
      parts.words * Math.min(mostFound, telling.length) +
      parts.title * titled.share -
      lostByDoubling * Math.log2(Math.max(1, lengthOf(document, entry) / usualLength))
    );
  }

  /** The words of the text that a title has, and the share of its words that these are. */
  #titled(title: string): { readonly found: ReadonlySet<number>; readonly share: number } {
    const found = new Set<number>();
    let all = 0;
    analyse(title, ({ kind, word, term }) => {
      if (kind === 'letter' || kind === 'whole' || stopWords.has(word) || isSign(word)) return;
      all += 1;
      const number = this.#collection.dictionary.term(term)?.number;
      if (number !== undefined && this.#weights.has(number)) found.add(number);
    });
    return { found, share: all === 0 ? 0 : found.size / all };
  }

  /** The words in the title and in the range of a text that has the heaviest ones. */
  *#densest(
    document: IndexedDocument,
    entry: DatedEntry | undefined,
    titled: ReadonlySet<number>,
  ): Steps<ReadonlySet<number>> {
    let best = titled;
    let most = this.#weightOf(best);
    const places = entry ? yield* this.#placesIn(document, entry) : this.#placesOf(document);
    for (let first = 0; first < places.length; first++) {
      const found = new Set(titled);
      const start = places[first]?.at ?? 0;
      for (let next = first; next < places.length; next++) {
        const place = places[next];
        if (!place || place.at - start > range) break;
        found.add(place.word);
      }
      const weight = this.#weightOf(found);
      if (weight > most) [best, most] = [found, weight];
    }
    return best;
  }

  /** The places of the words in a document, in tokens; its fields are far apart. */
  #placesOf({ terms }: IndexedDocument): WordPlace[] {
    const places: WordPlace[] = [];
    let at = 0;
    for (const [order, field] of fieldNames.entries()) {
      if (field === 'title') continue;
      for (const word of terms[order] ?? []) {
        at += 1;
        if (this.#weights.has(word)) places.push({ at, word });
      }
      at += range;
    }
    return places;
  }

  /** The places of the words in an entry of a log. */
  *#placesIn(document: IndexedDocument, { section }: DatedEntry): Steps<WordPlace[]> {
    const places: WordPlace[] = [];
    let at = 0;
    yield* visitTokens(document, 'body', (word, start) => {
      at += 1;
      const isInside = start >= section.start && start < section.end;
      if (isInside && this.#weights.has(word)) places.push({ at, word });
    });
    return places;
  }

  #weightOf(words: Iterable<number>): number {
    let sum = 0;
    for (const word of words) sum += this.#weights.get(word) ?? 0;
    return sum;
  }
}

/** The length of a document or of an entry of a log, in characters. */
function lengthOf({ fields }: IndexedDocument, entry: DatedEntry | undefined): number {
  if (entry) return entry.section.end - entry.section.start;
  const { body = '', reason = '', notes = '' } = fields;
  return body.length + reason.length + notes.length;
}

/** A word at a token of a document. */
interface WordPlace {
  readonly at: number;
  readonly word: number;
}

function wordWeight(word: string, term: string): number {
  return isSign(word) ? signWeight : isEveryday(term) ? everydayWeight : 1;
}

/** The weight of two letters of a script that puts no space between words. */
function pairWeight(pair: string, isKnown: boolean): number {
  // Hiragana ends words and joins them.
  if (/[ぁ-ゟ]/.test(pair)) return signWeight;
  const weight = isEverydayPair(pair) ? everydayWeight : isKnown ? 1 : unknownPairWeight;
  return /[ァ-ヿ]{2}/.test(pair) ? katakanaWeight * weight : weight;
}

/** Whether a word is a number, or a single letter of the Latin alphabet or of East Asia. */
function isSign(word: string): boolean {
  return /^(?:\d+|[a-z]|[\u3041-\ud7ff])$/.test(word);
}
