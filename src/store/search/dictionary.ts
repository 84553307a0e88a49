import SearchableMap from 'minisearch/SearchableMap';
import { allAtOnce, type Steps } from '../records/slices.ts';
import type { Postings } from './postings.ts';
import { stopWords } from './stop-words.ts';

/** A stem with the documents that contain it. */
export interface Term {
  readonly text: string;
  postings: Postings;
}

/** A word in its written form, with case and diacritics folded. */
export interface Word {
  readonly text: string;
  readonly term: Term;
  /** Whether it is a stop word, which does not count for the ranking. */
  readonly stop: boolean;
  /** How many tokens of the index are this word. */
  uses: number;
}

/** A known word as a substitute for an unknown one. */
export interface Candidate {
  readonly word: Word;
  /** At most 1, the value of the likeliest one. */
  readonly likeness: number;
}

/** Largest difference in length of two forms of a word, and the length from which words have forms. */
const longestEnding = 4;
const shortestInflected = 5;

/** Words put into the tree in one step. */
const stepWords = 512;

const number = /\p{N}/u;

/** All words of the index and the terms they belong to. */
export class Dictionary {
  readonly #words = new Map<string, Word>();
  readonly #terms = new Map<string, Term>();
  #tree: SearchableMap<Word> | undefined;
  #unsorted: Iterator<readonly [string, Word]> | undefined;

  /** The number of distinct words. */
  get size(): number {
    return this.#words.size;
  }

  term(text: string): Term | undefined {
    return this.#terms.get(text);
  }

  /** The words by their letters, for incomplete and misspelt words; built at the first use. */
  get #known(): SearchableMap<Word> {
    return allAtOnce(this.preparing());
  }

  /** Builds the tree from the words known at the first call; `add` keeps it up to date. */
  *preparing(): Steps<SearchableMap<Word>> {
    this.#tree ??= new SearchableMap<Word>();
    this.#unsorted ??= this.#words.entries();
    const tree = this.#tree;
    let steps = 0;
    for (let next = this.#unsorted.next(); !next.done; next = this.#unsorted.next()) {
      const [text, word] = next.value;
      // Words that differ in a digit are different things, not misspellings.
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

  /** Counts one use less; removes a word without uses and a term without documents. */
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

  /** The words one typo away from a text, or two for texts of eight letters and more. */
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
    // A typo in the first letter is rare.
    const found = near.map((word) => ({ word, likeness: word.text[0] === text[0] ? 1 : 0.3 }));
    return best(found, limit);
  }

  /** The words of which a text is a misspelt form: `deploys` for `deplyo`. */
  inflections(text: string, limit: number): Candidate[] {
    const found: Candidate[] = [];
    for (const [, word] of this.#known.atPrefix(text.slice(0, 1))) {
      const ending = Math.abs(word.text.length - text.length);
      if (ending > longestEnding || word.text.length < shortestInflected) continue;
      if (alike(text, word.text)) found.push({ word, likeness: 1 / (1 + ending) });
    }
    return best(found, limit);
  }

  /** The two known words that a text consists of, with the longest first half; empty without such words. */
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

/** Returns whether two words differ only in one typo and the ending of the longer one. */
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
