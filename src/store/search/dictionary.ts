import SearchableMap from 'minisearch/SearchableMap';

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

  /** Counts one use less; a word without uses is forgotten. */
  remove(word: Word): void {
    word.uses -= 1;
    if (word.uses > 0) return;
    this.#words.delete(word.text);
    this.#tree.delete(word.text);
  }

  /** Forgets a term that is in no document any more. */
  forget(term: Term): void {
    this.#terms.delete(term.text);
  }

  /** The words that begin with a text, most used first. */
  completions(text: string, limit: number): Candidate[] {
    const found: Candidate[] = [];
    for (const [, word] of this.#tree.atPrefix(text)) {
      found.push({ word, likeness: text.length / word.text.length });
    }
    return best(found, limit);
  }

  /** The words that are one slip of the pen away from a text, two from eight letters. */
  corrections(text: string, limit: number): Candidate[] {
    const allowed = text.length < 8 ? 1 : 2;
    const found: Candidate[] = [];
    // The tree counts a swap of two neighbours as two edits.
    for (const [, [word]] of this.#tree.fuzzyGet(text, 2)) {
      const edits = distance(text, word.text);
      if (edits > allowed) continue;
      const first = word.text[0] === text[0] ? 1 : 0.3;
      found.push({ word, likeness: first / (edits * edits) });
    }
    return best(found, limit);
  }
}

function best(candidates: Candidate[], limit: number): Candidate[] {
  const value = ({ word, likeness }: Candidate) => likeness * Math.log2(1 + word.uses);
  candidates.sort((a, b) => value(b) - value(a) || (a.word.text < b.word.text ? -1 : 1));
  return candidates.slice(0, limit);
}

/** Insertions, deletions, substitutions and swaps of neighbours that lead from one word to the other. */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(
        (previous[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + same,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
