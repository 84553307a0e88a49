import { withoutDate } from '../../../core/markdown/title-date.ts';
import type { AskedTerms } from '../query/asked-terms.ts';
import type { IndexedDocument, SearchedCollection } from '../terms/searched-collection.ts';
import { analyse } from '../text/analyser.ts';
import { stopWords } from '../text/stop-words.ts';

/** Titles that one part of a query fits have one subject if it is about as much of each of them. */
const leastFit = 0.6;
/** The share of the words of two titles that both have. */
const leastCommon = 0.5;
/** The cosine of the words of two texts. */
const leastCosine = 0.4;
/** Number of the concepts of the query that two texts have in common, unless the first has fewer. */
const leastAsked = 3;
/** Tokens at the beginning of a text that are compared. */
const mostTokens = 4_000;

/** The subject of a hit: its title, compared with the query, and its words. */
export interface Subject {
  /** The words of the title. */
  readonly words: ReadonlySet<string>;
  /** The concepts of the query that the title has. */
  readonly asked: ReadonlySet<number>;
  /** The share of the words of the title that the query asks for. */
  readonly fit: number;
  /** Its text; undefined for a part of a document. */
  readonly text: (() => SubjectText) | undefined;
}

interface SubjectText {
  /** Its words, each with its weight. */
  readonly weights: ReadonlyMap<number, number>;
  /** The concepts of the query that it has. */
  readonly asked: ReadonlySet<number>;
}

/** Returns the subject of a hit by its title, and by the text of the document if it is a whole one. */
export function subjectOf(
  title: string,
  asked: AskedTerms,
  { dictionary }: SearchedCollection,
  document?: IndexedDocument,
): Subject {
  const words = new Set<string>();
  const concepts = new Set<number>();
  let found = 0;
  analyse(withoutDate(title), ({ word, term, kind }) => {
    if (kind === 'whole' || stopWords.has(word) || words.has(term)) return;
    words.add(term);
    const number = dictionary.term(term)?.number;
    const own = number === undefined ? undefined : asked.writtenBy(number);
    if (own) found += 1;
    for (const concept of own ?? []) concepts.add(concept);
  });
  let text: SubjectText | undefined;
  return {
    words,
    asked: concepts,
    fit: words.size === 0 ? 0 : found / words.size,
    text:
      document &&
      (() => {
        text ??= textOf(document, asked);
        return text;
      }),
  };
}

/** Returns whether the title of a hit is about the same thing as that of a better one. */
export function haveOneTitle(one: Subject, other: Subject): boolean {
  // The words that the other one lacks may be those that the query asks for.
  if (![...one.asked].every((concept) => other.asked.has(concept))) return false;
  if (one.asked.size > 0 && one.asked.size === other.asked.size) {
    const [less, more] = one.fit < other.fit ? [one, other] : [other, one];
    if (less.fit >= leastFit * more.fit) return true;
  }
  return haveLikeTitles(one, other);
}

/** Returns whether two titles have most of their words in common. */
export function haveLikeTitles(one: Subject, other: Subject): boolean {
  let common = 0;
  for (const word of one.words) if (other.words.has(word)) common += 1;
  const all = one.words.size + other.words.size - common;
  return common > 0 && common >= leastCommon * all;
}

/** Returns whether the text of a hit says nearly the same as that of a better one. */
export function haveLikeTexts(one: Subject, other: Subject): boolean {
  const [text, next] = [one.text?.(), other.text?.()];
  if (!text || !next) return false;
  return hasAsked(next, text) && cosine(text.weights, next.weights) >= leastCosine;
}

/** Whether a text has enough of what the query asks for and another one has: all of a short query. */
function hasAsked(other: SubjectText, one: SubjectText): boolean {
  const common = [...one.asked].filter((concept) => other.asked.has(concept)).length;
  return common >= Math.min(one.asked.size, leastAsked);
}

/** Reads the words of a text: what depends on it is the same in every process. */
function textOf({ words }: IndexedDocument, asked: AskedTerms): SubjectText {
  const concepts = new Set<number>();
  const found = new Map<number, number>();
  let left = mostTokens;
  for (const field of words) {
    for (const { stop, term } of field) {
      if (stop || left-- < 0) continue;
      for (const concept of asked.writtenBy(term.number) ?? []) concepts.add(concept);
      found.set(term.number, (found.get(term.number) ?? 0) + 1);
    }
  }
  let sum = 0;
  const weights = new Map<number, number>();
  for (const [number, count] of found) {
    const weight = 1 + Math.log(count);
    weights.set(number, weight);
    sum += weight * weight;
  }
  const norm = Math.sqrt(sum) || 1;
  for (const [number, weight] of weights) weights.set(number, weight / norm);
  return { weights, asked: concepts };
}

function cosine(one: ReadonlyMap<number, number>, other: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const [number, weight] of one) sum += weight * (other.get(number) ?? 0);
  return sum;
}
