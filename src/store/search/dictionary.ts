import SearchableMap from 'minisearch/SearchableMap';
import { allAtOnce, type Steps } from '../records/slices.ts';
import type { Postings } from './postings.ts';
import { stopWords } from './stop-words.ts';

/** What documents hold one stem. */
export interface Term {
  readonly text: string;
  postings: Postings;
}

/** A word as it is written, case and diacritics folded. */
export interface Word {
  readonly text: string;
  readonly term: Term;
  /** Whether it says nothing about what is looked for. */
  readonly stop: boolean;
  /** How many tokens of the index are this word. */
  uses: number;
}

/** A known word that stands in for an unknown one. */
export interface Candidate {
  readonly word: Word;
  /** At most 1, which the likeliest one has. */
  readonly likeness: number;
}

/** By how many letters two forms of a word may differ in length, and from what length words have forms. */
const longestEnding = 4;
const shortestInflected = 5;

/** How many words are put into the tree in one step. */
const stepWords = 512;

const number = /\p{N}/u;

/** All words of the index and the terms they belong to. */
export class Dictionary {
  readonly #words = new Map<string, Word>();
  readonly #terms = new Map<string, Term>();
  #tree: SearchableMap<Word> | undefined;
  #unsorted: Iterator<readonly [string, Word]> | undefined;

  /** How many words there are. */
  get size(): number {
    return this.#words.size;
  }

  term(text: string): Term | undefined {
    return this.#terms.get(text);
  }

  /** The words by their letters, for what is asked for in part or misspelt: made when it first is. */
  get #known(): SearchableMap<Word> {
    return allAtOnce(this.preparing());
  }

  /** Puts the words in order that were known when this was first called; later ones come by themselves. */
  *preparing(): Steps<SearchableMap<Word>> {
    this.#tree ??= new SearchableMap<Word>();
    this.#unsorted ??= this.#words.entries();
    const tree = this.#tree;
    let steps = 0;
    for (let next = this.#unsorted.next(); !next.done; next = this.#unsorted.next()) {
      const [text, word] = next.value;
      // What is nearly the same but for a digit is something else.
      if (!number.test(text)) tree.set(text, word);
      if (++steps % stepWords === 0) yield;
    }
    return tree;
  }

  /** Counts one more use of a word. */
  add(text: string, stem: string): Word {
    let word = this.#words.get(text);
    if (word === undefined) {
      let term = this.#terms.get(stem);
      if (term === undefined) {
        term = { text: stem, postings: [] };
        this.#terms.set(stem, term);
      }
      word = { text, term, stop: stopWords.has(text), uses: 0 };
      this.#words.set(text, word);
      if (this.#tree && !number.test(text)) this.#tree.set(text, word);
    }
    word.uses += 1;
    return word;
  }

  /** Counts one use less; a word without uses is forgotten, and so is a term in no document. */
  remove(word: Word): void {
    word.uses -= 1;
    if (word.uses > 0) return;
    this.#words.delete(word.text);
    if (!number.test(word.text)) this.#tree?.delete(word.text);
    if (word.term.postings.length === 0) this.#terms.delete(word.term.text);
  }

  /** The words that begin with a text, most used first. */
  completions(text: string, limit: number): Candidate[] {
    const found: Candidate[] = [];
    for (const [, word] of this.#known.atPrefix(text)) {
      found.push({ word, likeness: text.length / word.text.length });
    }
    return best(found, limit);
  }

  /** The words that are one slip of the pen away from a text, or, from eight letters, two. */
  corrections(text: string, limit: number): Candidate[] {
    const near = [...this.#known.fuzzyGet(text, 1).values()].map(([word]) => word);
    for (let at = 1; at < text.length; at++) {
      const swapped = `${text.slice(0, at - 1)}${text[at]}${text[at - 1]}${text.slice(at + 1)}`;
      const word = this.#words.get(swapped);
      if (word) near.push(word);
    }
    if (near.length === 0 && text.length >= 8) {
      near.push(...[...this.#known.fuzzyGet(text, 2).values()].map(([word]) => word));
    }
    // Almost nobody misses the first letter.
    const found = near.map((word) => ({ word, likeness: word.text[0] === text[0] ? 1 : 0.3 }));
    return best(found, limit);
  }

  /** The words that a text is a misspelt form of: `deploys` for `deplyo`. */
  inflections(text: string, limit: number): Candidate[] {
    const found: Candidate[] = [];
    for (const [, word] of this.#known.atPrefix(text.slice(0, 1))) {
      const ending = Math.abs(word.text.length - text.length);
      if (ending > longestEnding || word.text.length < shortestInflected) continue;
      if (alike(text, word.text)) found.push({ word, likeness: 1 / (1 + ending) });
    }
    return best(found, limit);
  }

  /** The two known words that a text consists of, the longest first half first; none when there are no such two. */
  halves(text: string): Word[] {
    for (let at = text.length - 3; at >= 3; at--) {
      const left = this.#words.get(text.slice(0, at));
      const right = this.#words.get(text.slice(at));
      if (left && right) return [left, right];
    }
    return [];
  }
}

/** The likeliest candidates: of words equally like, the ones more often used. */
function best(candidates: readonly Candidate[], limit: number): Candidate[] {
  const likely = candidates
    .filter(({ word }) => !word.stop)
    .map(({ word, likeness }) => ({ word, likeness: likeness * Math.sqrt(word.uses) }))
    .sort((a, b) => b.likeness - a.likeness || (a.word.text < b.word.text ? -1 : 1))
    .slice(0, limit);
  const most = likely[0]?.likeness ?? 1;
  return likely.map(({ word, likeness }) => ({ word, likeness: likeness / most }));
}

/** Whether two words are the same but for one slip of the pen and the end of the longer one. */
function alike(a: string, b: string): boolean {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const rest = (skipA: number, skipB: number) => {
    const [restA, restB] = [a.slice(at + skipA), b.slice(at + skipB)];
    return restA.startsWith(restB) || restB.startsWith(restA);
  };
  const swapped = a[at] === b[at + 1] && a[at + 1] === b[at];
  return rest(1, 1) || rest(1, 0) || rest(0, 1) || (swapped && rest(2, 2));
}
