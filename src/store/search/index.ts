import { analyse } from './analyser.ts';
import { Dictionary, type Term, type Word } from './dictionary.ts';
import { fieldNames, type Hits, named, type SearchDocument } from './document.ts';
import { literal } from './literal.ts';
import { type Concept, plan } from './query.ts';
import { excerpt } from './snippet.ts';

export interface SearchOptions {
  /** Only documents whose id it accepts are found and counted. */
  readonly filter?: (id: string) => boolean;
  /** At most this many hits. Default 20. */
  readonly limit?: number;
  /** False: the query as a literal, case-insensitive substring. Default true. */
  readonly fuzzy?: boolean;
}

interface Entry extends SearchDocument {
  readonly number: number;
  /** Every token in the order of the text. */
  readonly words: readonly Word[];
}

/** How much a word in each field counts. */
const fieldWeights = { title: 3, body: 1.3, reason: 1.1, notes: 1 } as const;

/** Saturation of repeated words, and how much a long document is held against it. */
const k = 1.6;
const b = 0.6;

/** An inverted index over documents: held in memory, changed one document at a time. */
export class SearchIndex {
  readonly #dictionary = new Dictionary();
  readonly #numbers = new Map<string, number>();
  readonly #entries: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  #length = 0;

  get size(): number {
    return this.#numbers.size;
  }

  /** Adds a document, or replaces the one with its id. */
  upsert({ id, fields }: SearchDocument): void {
    this.remove(id);
    const number = this.#free.pop() ?? this.#entries.length;
    const words: Word[] = [];
    const frequencies = new Map<Term, number>();
    for (const field of fieldNames) {
      analyse(fields[field] ?? '', (token) => {
        const word = this.#dictionary.add(token.word, token.term);
        words.push(word);
        frequencies.set(word.term, (frequencies.get(word.term) ?? 0) + fieldWeights[field]);
      });
    }
    for (const [term, frequency] of frequencies) {
      const at = position(term.documents, number);
      term.documents.splice(at, 0, number);
      term.frequencies.splice(at, 0, frequency);
    }
    this.#numbers.set(id, number);
    this.#entries[number] = { id, fields, number, words };
    this.#length += words.length;
  }

  /** Removes a document; nothing happens when there is none with this id. */
  remove(id: string): void {
    const number = this.#numbers.get(id);
    const entry = number === undefined ? undefined : this.#entries[number];
    if (number === undefined || entry === undefined) return;
    for (const term of new Set(entry.words.map((word) => word.term))) {
      const at = position(term.documents, number);
      term.documents.splice(at, 1);
      term.frequencies.splice(at, 1);
      if (term.documents.length === 0) this.#dictionary.forget(term);
    }
    for (const word of entry.words) this.#dictionary.remove(word);
    this.#numbers.delete(id);
    this.#entries[number] = undefined;
    this.#free.push(number);
    this.#length -= entry.words.length;
  }

  search(query: string, options: SearchOptions = {}): Hits {
    const { filter = () => true, limit = 20, fuzzy = true } = options;
    if (!fuzzy) {
      const found = this.#all().filter(({ id }) => filter(id));
      return literal(found, query, limit);
    }
    const concepts = plan(query, this.#dictionary);
    const found: { entry: Entry; score: number }[] = [];
    for (const [number, score] of this.#score(concepts)) {
      const entry = this.#entries[number];
      if (entry === undefined || !filter(entry.id)) continue;
      found.push({ entry, score: named(entry, query) ? 1 : score });
    }
    found.sort((a, b) => b.score - a.score || (a.entry.id < b.entry.id ? -1 : 1));
    const hits = found.slice(0, limit).map(({ entry, score }) => ({
      id: entry.id,
      score,
      ...excerpt(entry.fields, concepts),
    }));
    return { hits, total: found.length };
  }

  #all(): Entry[] {
    return this.#entries.filter((entry) => entry !== undefined);
  }

  /** BM25 over the weighted sum of the fields, as a share of what a perfect document would reach. */
  #score(concepts: readonly Concept[]): Map<number, number> {
    const average = this.#length / Math.max(1, this.size);
    const scores = new Map<number, number>();
    let perfect = 0;
    for (const { weight, terms } of concepts) {
      const frequencies = new Map<number, number>();
      for (const { term, weight: share } of terms) {
        for (const [at, number] of term.documents.entries()) {
          const frequency = share * (term.frequencies[at] ?? 0);
          frequencies.set(number, (frequencies.get(number) ?? 0) + frequency);
        }
      }
      const rarity = Math.log(1 + (this.size - frequencies.size + 0.5) / (frequencies.size + 0.5));
      perfect += weight * rarity * (k + 1);
      for (const [number, frequency] of frequencies) {
        const length = this.#entries[number]?.words.length ?? 0;
        const norm = k * (1 - b + (b * length) / average);
        const score = (weight * rarity * frequency * (k + 1)) / (frequency + norm);
        scores.set(number, (scores.get(number) ?? 0) + score);
      }
    }
    for (const [number, score] of scores) {
      scores.set(number, Math.round((0.999 * score * 1e6) / perfect) / 1e6);
    }
    return scores;
  }
}

/** Where a number stands, or belongs, in an ascending list. */
function position(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
