import SearchableMap from 'minisearch/SearchableMap';
import { stopWords } from './stop-words.ts';

/** What documents hold one stem. */
export interface Term {
  readonly text: string;
  /** Numbers of documents, ascending. */
  readonly documents: number[];
  /** How often it stands in each of them, weighted by field. */
  readonly frequencies: number[];
}

/** A word as it is written, case and diacritics folded. */
export interface Word {
  readonly text: string;
  readonly term: Term;
  /** How many tokens of the index are this word. */
  uses: number;
}

/** A word that stands in for one that the index does not know. */
export interface Candidate {
  readonly word: Word;
  /** 0 to 1: how likely it is what was meant. */
  readonly likeness: number;
}

const prior = 0.5;

/** All words of the index and the terms they belong to. */
export class Dictionary {
  readonly #words = new Map<string, Word>();
  readonly #terms = new Map<string, Term>();
  readonly #tree = new SearchableMap<Word>();

  term(text: string): Term | undefined {
    return this.#terms.get(text);
  }

  word(text: string): Word | undefined {
    return this.#words.get(text);
  }

  /** Counts one more use of a word. */
  add(text: string, stem: string): Word {
    let word = this.#words.get(text);
    if (word === undefined) {
      let term = this.#terms.get(stem);
      if (term === undefined) {
        term = { text: stem, documents: [], frequencies: [] };
        this.#terms.set(stem, term);
      }
      word = { text, term, uses: 0 };
      this.#words.set(text, word);
      this.#tree.set(text, word);
    }
    word.uses += 1;
    return word;
  }

  /** Counts one use less; a word without uses is forgotten, and so is a term in no document. */
  remove(word: Word): void {
    word.uses -= 1;
    if (word.uses > 0) return;
    this.#words.delete(word.text);
    this.#tree.delete(word.text);
    if (word.term.documents.length === 0) this.#terms.delete(word.term.text);
  }

  /** The words that begin with a text, most used first. */
  completions(text: string, limit: number): Candidate[] {
    const found: Candidate[] = [];
    for (const [, word] of this.#tree.atPrefix(text)) {
      found.push({ word, likeness: text.length / word.text.length });
    }
    return best(found, limit);
  }

  /** The words that are one slip of the pen away from a text, or, from eight letters, two. */
  corrections(text: string, limit: number): Candidate[] {
    const near = [...this.#tree.fuzzyGet(text, 1).values()].map(([word]) => word);
    for (let at = 1; at < text.length; at++) {
      const swapped = `${text.slice(0, at - 1)}${text[at]}${text[at - 1]}${text.slice(at + 1)}`;
      const word = this.#words.get(swapped);
      if (word) near.push(word);
    }
    if (near.length === 0 && text.length >= 8) {
      near.push(...[...this.#tree.fuzzyGet(text, 2).values()].map(([word]) => word));
    }
    // Almost nobody misses the first letter.
    const found = near.map((word) => ({ word, likeness: word.text[0] === text[0] ? 1 : 0.3 }));
    return best(found, limit);
  }
}

function best(candidates: Candidate[], limit: number): Candidate[] {
  const told = candidates.filter(({ word }) => !stopWords.has(word.text));
  const all = told.map(({ word, likeness }) => ({ word, likeness: likeness * word.uses ** prior }));
  all.sort((a, b) => b.likeness - a.likeness || (a.word.text < b.word.text ? -1 : 1));
  const most = all[0]?.likeness ?? 1;
  return all.slice(0, limit).map(({ word, likeness }) => ({ word, likeness: likeness / most }));
}
