import { leastLikeness } from '../../../core/memory/store.ts';
import type { Collection } from '../terms/collection.ts';
import type { Term, Word } from '../terms/dictionary.ts';
import { documentOf } from '../terms/postings.ts';
import { fieldNames, type SearchDocument } from '../terms/search-document.ts';
import { analyse } from '../text/analyser.ts';
import { stopWords } from '../text/stop-words.ts';

/** A document that resembles another one. */
export interface Similar {
  readonly id: string;
  /** The share of the terms of both that both have, 0 to 1; 0 for a document that is much longer. */
  readonly likeness: number;
}

/** Terms that choose the candidates, the rarest first, and how many postings they may have in all. */
const maxTerms = 32;
const maxPostings = 20_000;
/** Candidates whose terms are compared. */
const maxCandidates = 16;
/** A shorter text, or a shorter statement, resembles too many others. */
const minTerms = 6;
const minStated = 4;
/** The lowest likeness that is reported. */
const lowest = leastLikeness - 0.01;
/** A text with more times the words of another one says more than that, even in the same words. */
const maxLonger = 8;
/** Limit of the text of a document that is compared, in characters. */
const maxText = 20_000;

/**
 * Finds the documents with the most terms in common with another one, and how alike each is.
 *
 * A short text is like no other as a whole.
 */
export function similarDocuments(
  collection: Collection,
  document: SearchDocument,
): readonly Similar[] {
  const own = termsOf(collection, document);
  const { size } = own.texts;
  if (size < minStated) return [];
  const counts = new Uint8Array(collection.capacity);
  const counted: number[] = [];
  let left = maxPostings;
  const rarest = own.known.sort((a, b) => a.postings.length - b.postings.length);
  for (const { postings } of rarest.slice(0, maxTerms)) {
    left -= postings.length;
    if (left < 0) break;
    for (const posting of postings) {
      const number = documentOf(posting);
      const count = (counts[number] ?? 0) + 1;
      counts[number] = count;
      if (count === 1) counted.push(number);
    }
  }
  // A long document is never like a short one, and is not read to its end.
  const most = size / lowest;
  return candidatesOf(counted, counts).flatMap((number): Similar[] => {
    const entry = collection.entry(number);
    if (!entry) return [];
    if (size < minTerms) return [{ id: entry.id, likeness: 0 }];
    const others = termsBelow(most, own.words, entry.words);
    return [{ id: entry.id, likeness: others ? shareOf(own.texts, others) : 0 }];
  });
}

/** The terms of a document, unless there are more than a number, or they are in many more words. */
function termsBelow(
  most: number,
  ownWords: number,
  fields: readonly (readonly Word[])[],
): Set<string> | undefined {
  const terms = new Set<string>();
  if (fields.reduce((sum, words) => sum + words.length, 0) > maxLonger * ownWords) return undefined;
  for (const words of fields) {
    for (const { stop, term } of words) {
      if (stop) continue;
      terms.add(term.text);
      if (terms.size > most) return undefined;
    }
  }
  return terms;
}

/** The documents with the most terms, those first that have more of them; they are not sorted as a whole. */
function candidatesOf(documents: readonly number[], counts: Uint8Array): readonly number[] {
  const byCount = Array.from({ length: maxTerms + 1 }, (): number[] => []);
  for (const number of documents) {
    const alike = byCount[counts[number] ?? 0];
    if (alike && alike.length < maxCandidates) alike.push(number);
  }
  return byCount.reverse().flat().slice(0, maxCandidates);
}

/** The share of the terms of two texts that both have. */
function shareOf(own: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let common = 0;
  for (const term of others) if (own.has(term)) common += 1;
  return Math.round((100 * common) / (own.size + others.size - common)) / 100;
}

/** A statement; the same object always has the same text. */
interface StatedText {
  readonly text: string;
}

const knownWords = new WeakMap<StatedText, ReadonlySet<string>>();

/**
 * Measures how alike a statement is to others: the share of the terms of both that both have, 0 to 1.
 *
 * One without enough terms is like no other. The others are read until they have too much text.
 */
export function likenessTo(text: string, others: readonly StatedText[]): readonly number[] {
  const own = wordsOf(text);
  let left = own.size < minStated ? 0 : maxText;
  return others.map((other) => {
    left -= other.text.length;
    if (left < 0) return 0;
    const words = knownWords.get(other) ?? wordsOf(other.text);
    knownWords.set(other, words);
    return shareOf(own, words);
  });
}

/** Measures how alike two titles are; one of a single word is like no other. */
export function titleLikeness(title: string, other: string): number {
  const own = wordsOf(title, false);
  return own.size < 2 ? 0 : shareOf(own, wordsOf(other, false));
}

function wordsOf(text: string, withWholes = true): ReadonlySet<string> {
  const words = new Set<string>();
  analyse(text.slice(0, maxText), ({ word, term, kind }) => {
    if (!stopWords.has(word) && (withWholes || kind !== 'whole')) words.add(term);
  });
  return words;
}

/** The terms of a document, those of them that the index knows, and the number of its words. */
function termsOf({ dictionary }: Collection, { fields }: SearchDocument) {
  const texts = new Set<string>();
  const known: Term[] = [];
  let words = 0;
  for (const field of fieldNames) {
    analyse((fields[field] ?? '').slice(0, maxText), ({ word, term }) => {
      words += 1;
      if (texts.has(term) || stopWords.has(word)) return;
      texts.add(term);
      const found = dictionary.term(term);
      if (found) known.push(found);
    });
  }
  return { texts, known, words };
}
