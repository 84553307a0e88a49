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
/** A shorter text resembles too many others. */
const minTerms = 6;
/** Limit of the text of a document that is compared, in characters. */
const maxText = 20_000;

/** Finds the documents with the most terms in common with another one, the likest first. */
export function similarDocuments(
  collection: Collection,
  document: SearchDocument,
  likeness: number,
  limit: number,
): readonly Similar[] {
  const own = termsOf(collection, document);
  const { size } = own.texts;
  if (size < minTerms) return [];
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
  return candidates
    .flatMap(([number]): Similar[] => {
      const entry = collection.entry(number);
      if (!entry || entry.id === document.id) return [];
      const others = new Set<string>();
      for (const words of entry.words) {
        for (const { stop, term } of words) if (!stop) others.add(term.text);
      }
      let common = 0;
      for (const term of others) if (own.texts.has(term)) common += 1;
      const found = common / (size + others.size - common);
      return found >= likeness ? [{ id: entry.id, likeness: Math.round(100 * found) / 100 }] : [];
    })
    .sort((a, b) => b.likeness - a.likeness || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/**
 * Measures how alike a text is to others: the share of the terms of both that both have, 0 to 1.
 *
 * A text without enough terms is like no other. The others are read until they have too much text.
 */
export function likenessTo(text: string, others: readonly string[]): readonly number[] {
  const own = wordsOf(text);
  let left = own.size < minTerms ? 0 : maxText;
  return others.map((other) => {
    left -= other.length;
    if (left < 0) return 0;
    const words = wordsOf(other);
    let common = 0;
    for (const word of words) if (own.has(word)) common += 1;
    return Math.round((100 * common) / (own.size + words.size - common)) / 100;
  });
}

function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  analyse(text.slice(0, maxText), ({ word, term }) => {
    if (!stopWords.has(word)) words.add(term);
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
