import type { Collection } from '../terms/collection.ts';
import type { Term } from '../terms/dictionary.ts';
import { documentOf } from '../terms/postings.ts';
import { fieldNames, type SearchDocument } from '../terms/search-document.ts';
import { analyse } from '../text/analyser.ts';
import { stopWords } from '../text/stop-words.ts';

/** A document that resembles another one. */
export interface Similar {
  readonly id: string;
  /** The share of the terms of both that both have, 0 to 1. */
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
  const counts = new Map<number, number>();
  let left = maxPostings;
  const rarest = own.known.sort((a, b) => a.postings.length - b.postings.length);
  for (const { postings } of rarest.slice(0, maxTerms)) {
    left -= postings.length;
    if (left < 0) break;
    for (const posting of postings) {
      const number = documentOf(posting);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
  }
  const candidates = [...counts].sort((a, b) => b[1] - a[1]).slice(0, maxCandidates);
  return candidates.flatMap(([number]): Similar[] => {
    const entry = collection.entry(number);
    if (!entry) return [];
    if (size < minTerms) return [{ id: entry.id, likeness: 0 }];
    const others = new Set<string>();
    for (const words of entry.words) {
      for (const { stop, term } of words) if (!stop) others.add(term.text);
    }
    return [{ id: entry.id, likeness: shareOf(own.texts, others) }];
  });
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

/** The terms of a document, and those of them that the index knows. */
function termsOf({ dictionary }: Collection, { fields }: SearchDocument) {
  const texts = new Set<string>();
  const known: Term[] = [];
  for (const field of fieldNames) {
    analyse((fields[field] ?? '').slice(0, maxText), ({ word, term }) => {
      if (texts.has(term) || stopWords.has(word)) return;
      texts.add(term);
      const found = dictionary.term(term);
      if (found) known.push(found);
    });
  }
  return { texts, known };
}
