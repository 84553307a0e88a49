import type { NamedSection } from '../../../core/markdown/section-path.ts';
import { withoutDate } from '../../../core/markdown/title-date.ts';
import type { AskedTerms } from '../query/asked-terms.ts';
import type { IndexedDocument, SearchedCollection } from '../terms/searched-collection.ts';
import { analyse } from '../text/analyser.ts';
import { stopWords } from '../text/stop-words.ts';

/** Titles that one part of a query fits have one subject if it is about as much of each of them. */
const leastFit = 0.6;
/** The share of the words of each title that the query asks for if both are surely about the same. */
const leastSure = 0.5;
/** The share of the words of two titles that both have. */
const leastCommon = 0.5;
/** The cosine of the words of two texts. */
const leastCosine = 0.4;
/** Number of the concepts of the query that two texts have in common, unless the first has fewer. */
const leastAsked = 3;
/** Tokens at the beginning of a text that are compared. */
const mostTokens = 4_000;

/** The words of a title; a list is faster to read than a set. */
interface TitleWords {
  readonly list: readonly string[];
  readonly set: ReadonlySet<string>;
}

/** The subject of a hit: its title, compared with the query, and its words. */
export interface Subject {
  readonly title: TitleWords;
  /** The concepts of the query that the title has. */
  readonly asked: readonly number[];
  /** The share of the words of the title that the query asks for. */
  readonly fit: number;
  /** Its text; undefined for a part of a document. */
  readonly text: (() => SubjectText) | undefined;
}

/** The terms of the words of a text, ascending, and the weight of each. */
interface Weighted {
  readonly terms: Uint32Array;
  readonly weights: Float64Array;
}

interface SubjectText extends Weighted {
  /** The concepts of the query that it has. */
  readonly asked: ReadonlySet<number>;
}

/** A document, or the section of one, that a hit is of: what depends on it alone is derived once. */
export type SubjectOwner = IndexedDocument | NamedSection;

/** Returns the subject of a hit by its title, and by the text of the document if it is a whole one. */
export function subjectOf(
  owner: SubjectOwner,
  asked: AskedTerms,
  { dictionary }: SearchedCollection,
): Subject {
  const title = titleWords(owner);
  const concepts: number[] = [];
  let found = 0;
  for (const word of title.list) {
    const number = dictionary.term(word)?.number;
    const own = number === undefined ? undefined : asked.writtenBy(number);
    if (!own) continue;
    found += 1;
    for (const concept of own) if (!concepts.includes(concept)) concepts.push(concept);
  }
  let text: SubjectText | undefined;
  return {
    title,
    asked: concepts,
    fit: title.list.length === 0 ? 0 : found / title.list.length,
    text:
      'fields' in owner
        ? () => {
            text ??= subjectText(owner, asked);
            return text;
          }
        : undefined,
  };
}

function subjectText(document: IndexedDocument, asked: AskedTerms): SubjectText {
  const weighted = weigh(document);
  return { ...weighted, asked: conceptsIn(weighted, asked) };
}

const knownTitles = new WeakMap<SubjectOwner, TitleWords>();

/** The words of a title, as the index has them. */
function titleWords(owner: SubjectOwner): TitleWords {
  const known = knownTitles.get(owner);
  if (known) return known;
  const set = new Set<string>();
  const title = 'fields' in owner ? owner.fields.title : owner.heading;
  analyse(withoutDate(title), ({ word, term, kind }) => {
    if (kind !== 'whole' && !stopWords.has(word)) set.add(term);
  });
  const words = { list: [...set], set };
  knownTitles.set(owner, words);
  return words;
}

/** Returns whether the title of a hit is about the same thing as that of a better one. */
export function haveOneTitle(one: Subject, other: Subject): boolean {
  // The words that the other one lacks may be those that the query asks for.
  for (const concept of one.asked) if (!other.asked.includes(concept)) return false;
  return fitAlike(one, other) || haveLikeTitles(one, other);
}

/** Returns whether two titles are surely about the same thing, also where one lacks a word of the query. */
export function haveSureTitle(one: Subject, other: Subject): boolean {
  if (haveLikeTitles(one, other)) return true;
  // Titles with one word of the query in common, or with many other words, can be about anything.
  const isMost = Math.min(one.fit, other.fit) >= leastSure;
  return isMost && one.asked.length > 1 && fitAlike(one, other);
}

/** Whether the same part of the query is about as much of two titles. */
function fitAlike(one: Subject, other: Subject): boolean {
  const { length } = one.asked;
  if (length === 0 || length !== other.asked.length) return false;
  const [less, more] = one.fit < other.fit ? [one, other] : [other, one];
  if (less.fit < leastFit * more.fit) return false;
  return one.asked.every((concept) => other.asked.includes(concept));
}

/** Whether two titles have most of their words in common. */
function haveLikeTitles(one: Subject, other: Subject): boolean {
  const { list } = one.title;
  const size = list.length + other.title.list.length;
  // All words are taken for common until they are compared: most titles fail at the first ones.
  let common = list.length;
  for (let at = 0; at < list.length && common >= leastCommon * (size - common); at++) {
    if (!other.title.set.has(list[at] ?? '')) common -= 1;
  }
  return common > 0 && common >= leastCommon * (size - common);
}

/** Returns whether the text of a hit says nearly the same as that of a better one. */
export function haveLikeTexts(one: Subject, other: Subject): boolean {
  const [text, next] = [one.text?.(), other.text?.()];
  if (!text || !next) return false;
  return hasAsked(next, text) && cosine(text, next) >= leastCosine;
}

/** Whether a text has enough of what the query asks for and another one has: all of a short query. */
function hasAsked(other: SubjectText, one: SubjectText): boolean {
  const common = [...one.asked].filter((concept) => other.asked.has(concept)).length;
  return common >= Math.min(one.asked.size, leastAsked);
}

const knownTexts = new WeakMap<IndexedDocument, Weighted>();

/** The words of a text with their weights: what depends on them is the same in every process. */
function weigh(document: IndexedDocument): Weighted {
  const known = knownTexts.get(document);
  if (known) return known;
  const counts = new Map<number, number>();
  let left = mostTokens;
  for (const field of document.words) {
    for (const { stop, term } of field) {
      if (stop || left-- < 0) continue;
      counts.set(term.number, (counts.get(term.number) ?? 0) + 1);
    }
  }
  const terms = Uint32Array.from(counts.keys()).sort();
  const weights = Float64Array.from(terms, (term) => 1 + Math.log(counts.get(term) ?? 1));
  const norm = Math.sqrt(weights.reduce((sum, weight) => sum + weight * weight, 0)) || 1;
  const found = { terms, weights: weights.map((weight) => weight / norm) };
  knownTexts.set(document, found);
  return found;
}

function conceptsIn({ terms }: Weighted, asked: AskedTerms): ReadonlySet<number> {
  const found = new Set<number>();
  for (const term of terms) for (const concept of asked.writtenBy(term) ?? []) found.add(concept);
  return found;
}

function cosine(one: Weighted, other: Weighted): number {
  let sum = 0;
  let next = 0;
  for (let at = 0; at < one.terms.length; at++) {
    const term = one.terms[at] ?? 0;
    while ((other.terms[next] ?? Number.POSITIVE_INFINITY) < term) next += 1;
    if (other.terms[next] === term) sum += (one.weights[at] ?? 0) * (other.weights[next] ?? 0);
  }
  return sum;
}
