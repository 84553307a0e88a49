import SearchableMap from 'minisearch/SearchableMap';
import { placeFrom, placeIn } from '../../derived/text-list.ts';
import { allAtOnce, type Steps } from '../../records/slices.ts';
import { stem } from '../text/analyser.ts';
import { stopWords } from '../text/stop-words.ts';
import type { Postings } from './postings.ts';
import { near, type StoredWords } from './stored-words.ts';

/** A stem with the documents that contain it. */
export interface Term {
  /** Unique among the terms of the dictionary; it is not used again. */
  readonly number: number;
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
const stopTerms: ReadonlySet<string> = new Set([...stopWords].map(stem));

/** A term of a saved index; its postings are decoded at the first use. */
class StoredTerm implements Term {
  /** Its place in the saved index. */
  readonly number: number;
  readonly text: string;
  readonly #stored: StoredWords;
  #postings: Postings | undefined;

  constructor(stored: StoredWords, place: number) {
    this.number = place;
    this.text = stored.terms.at(place) ?? '';
    this.#stored = stored;
  }

  get postings(): Postings {
    this.#postings ??= this.#stored.postings(this.number);
    return this.#postings;
  }

  /** The postings, which do not stay in memory because of this call. */
  passing(): Postings {
    return this.#postings ?? this.#stored.postings(this.number);
  }

  set postings(postings: Postings) {
    this.#postings = postings;
  }
}

/**
 * All words of the index and the terms they belong to.
 *
 * The words of a saved index become objects when they are first needed. From then on they are like
 * all others, and their places only lead to these objects.
 */
export class Dictionary {
  /** The words and terms that are objects, as far as they are in use. */
  readonly #words = new Map<string, Word>();
  readonly #terms = new Map<string, Term>();
  #stored: StoredWords | undefined;
  /** The objects of the saved words and terms by place; one without uses stays here, but counts no more. */
  #wordAt: (Word | undefined)[] = [];
  #termAt: (Term | undefined)[] = [];
  #size = 0;
  /** Whether a term is that of a stop word, as far as it was asked. */
  readonly #stops: boolean[] = [];
  /** The texts of the terms that are not in the saved index, by number. */
  readonly #newTerms: string[] = [];
  #tree: SearchableMap<Word> | undefined;
  #unsorted: Iterator<readonly [string, Word]> | undefined;

  /** The number of distinct words. */
  get size(): number {
    return this.#size;
  }

  /** Adds the words of a saved index; the dictionary must be empty. */
  adopt(stored: StoredWords): void {
    this.#stored = stored;
    this.#wordAt = new Array(stored.words.length);
    this.#termAt = new Array(stored.terms.length);
    this.#size = stored.words.length;
  }

  /** One more than the highest number of a term. */
  get termCount(): number {
    return this.#termAt.length + this.#newTerms.length;
  }

  /** The text of the term with a number. */
  termText(number: number): string {
    const first = this.#termAt.length;
    return (number < first ? this.#stored?.terms.at(number) : this.#newTerms[number - first]) ?? '';
  }

  /** Whether the term with a number is that of a stop word. */
  isStop(number: number): boolean {
    this.#stops[number] ??= stopTerms.has(this.termText(number));
    return this.#stops[number];
  }

  term(text: string): Term | undefined {
    const known = this.#terms.get(text);
    if (known || !this.#stored) return known;
    const place = placeIn(this.#stored.terms, text);
    return place < 0 || this.#termAt[place] ? undefined : this.#loadTerm(this.#stored, place);
  }

  /** A word of the saved index by its place; undefined if there is none in use. */
  wordAt(place: number): Word | undefined {
    const word = this.#wordAt[place] ?? this.#loadWord(place);
    return word && word.uses > 0 ? word : undefined;
  }

  /** All words in use. */
  *words(): Generator<Word> {
    for (let place = 0; place < this.#wordAt.length; place++) this.wordAt(place);
    yield* this.#words.values();
  }

  /** All terms; postings that only this needs do not stay in memory. */
  *terms(): Generator<Term> {
    for (const term of this.#terms.values()) {
      if (!(term instanceof StoredTerm)) yield term;
      else yield { number: term.number, text: term.text, postings: term.passing() };
    }
    for (let place = 0; place < this.#termAt.length; place++) {
      const text = this.#stored?.terms.at(place);
      if (!this.#stored || text === undefined || this.#termAt[place]) continue;
      yield { number: place, text, postings: this.#stored.postings(place) };
    }
  }

  #word(text: string): Word | undefined {
    const known = this.#words.get(text);
    if (known || !this.#stored) return known;
    const place = placeIn(this.#stored.words, text);
    return place < 0 || this.#wordAt[place] ? undefined : this.#loadWord(place);
  }

  #loadWord(place: number): Word | undefined {
    const stored = this.#stored;
    const text = stored?.words.at(place);
    if (!stored || text === undefined) return undefined;
    const of = stored.termOf[place] ?? 0;
    const term = this.#termAt[of] ?? this.#loadTerm(stored, of);
    const word = { text, term, stop: stopWords.has(text), uses: stored.uses[place] ?? 0 };
    this.#wordAt[place] = word;
    this.#words.set(text, word);
    return word;
  }

  #loadTerm(stored: StoredWords, place: number): Term {
    const term = new StoredTerm(stored, place);
    this.#termAt[place] = term;
    this.#terms.set(term.text, term);
    return term;
  }

  /** A word in use at a place of the saved index; undefined for one with a digit. */
  #storedWord(place: number): Word | undefined {
    return number.test(this.#stored?.words.at(place) ?? '') ? undefined : this.wordAt(place);
  }

  /** The saved words with a beginning, by their places. */
  *#placesFrom(prefix: string): Generator<readonly [place: number, text: string]> {
    const words = this.#stored?.words;
    for (let place = words ? placeFrom(words, prefix) : 0; ; place++) {
      const text = words?.at(place);
      if (!text?.startsWith(prefix)) return;
      yield [place, text];
    }
  }

  /** The words with at most this many edits. */
  *#near(text: string, most: 1 | 2): Generator<Word> {
    for (const [word] of this.#known.fuzzyGet(text, most).values()) yield word;
    for (const place of this.#stored ? near(this.#stored, text, most) : []) {
      const word = this.#storedWord(place);
      if (word) yield word;
    }
  }

  /** The words by their letters, for incomplete and misspelt words; built at the first use. */
  get #known(): SearchableMap<Word> {
    return allAtOnce(this.preparing());
  }

  /** Builds the tree from the words known at the first call; `add` keeps it up to date. */
  *preparing(): Steps<SearchableMap<Word>> {
    this.#tree ??= new SearchableMap<Word>();
    this.#unsorted ??= this.#newWords();
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

  /** The words that are not those of the saved index. */
  *#newWords(): Generator<readonly [string, Word]> {
    for (const entry of this.#words) if (!this.#isStored(entry[1])) yield entry;
  }

  #isStored(word: Word): boolean {
    if (!this.#stored) return false;
    return this.#wordAt[placeIn(this.#stored.words, word.text)] === word;
  }

  /** Counts one more use of a word. */
  add(text: string, stem: string): Word {
    let word = this.#word(text);
    if (word === undefined) {
      let term = this.term(stem);
      if (term === undefined) {
        term = { number: this.termCount, text: stem, postings: [] };
        this.#newTerms.push(stem);
        this.#terms.set(stem, term);
      }
      word = { text, term, stop: stopWords.has(text), uses: 0 };
      this.#words.set(text, word);
      this.#size += 1;
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
    this.#size -= 1;
    if (!number.test(word.text) && !this.#isStored(word)) this.#tree?.delete(word.text);
    if (word.term.postings.length === 0) this.#terms.delete(word.term.text);
  }

  /** The words that begin with a text, most used first. */
  completions(text: string, limit: number): Candidate[] {
    const found: Candidate[] = [];
    for (const word of this.#beginning(text, () => true)) {
      found.push({ word, likeness: text.length / word.text.length });
    }
    return best(found, limit);
  }

  /** The words with a beginning; a saved word becomes an object only if it is wanted. */
  *#beginning(prefix: string, isWanted: (text: string) => boolean): Generator<Word> {
    for (const [text, word] of this.#known.atPrefix(prefix)) if (isWanted(text)) yield word;
    for (const [place, text] of this.#placesFrom(prefix)) {
      const word = isWanted(text) ? this.#storedWord(place) : undefined;
      if (word) yield word;
    }
  }

  /** The words one typo away from a text, or two for texts of eight letters and more. */
  corrections(text: string, limit: number): Candidate[] {
    const likely = [...this.#near(text, 1)];
    for (let at = 1; at < text.length; at++) {
      const swapped = `${text.slice(0, at - 1)}${text[at]}${text[at - 1]}${text.slice(at + 1)}`;
      const word = this.#word(swapped);
      if (word) likely.push(word);
    }
    if (likely.length === 0 && text.length >= 8) likely.push(...this.#near(text, 2));
    // A typo in the first letter is rare.
    const found = likely.map((word) => ({ word, likeness: word.text[0] === text[0] ? 1 : 0.3 }));
    return best(found, limit);
  }

  /** The words of which a text is a misspelt form: `deploys` for `deplyo`. */
  inflections(text: string, limit: number): Candidate[] {
    const found: Candidate[] = [];
    const ending = (form: string) => Math.abs(form.length - text.length);
    const isForm = (form: string) =>
      ending(form) <= longestEnding && form.length >= shortestInflected && alike(text, form);
    for (const word of this.#beginning(text.slice(0, 1), isForm)) {
      found.push({ word, likeness: 1 / (1 + ending(word.text)) });
    }
    return best(found, limit);
  }

  /** The two known words that a text consists of, with the longest first half; empty without such words. */
  halves(text: string): Word[] {
    for (let at = text.length - 3; at >= 3; at--) {
      const left = this.#word(text.slice(0, at));
      const right = this.#word(text.slice(at));
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
