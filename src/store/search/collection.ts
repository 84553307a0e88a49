import { analyse, type Token } from './analyser.ts';
import { Dictionary, type Word } from './dictionary.ts';
import { fieldNames, fieldWeights, plain, type SearchDocument } from './document.ts';
import { without, withWeight } from './postings.ts';

/** A document as the ranking sees it. */
export interface Entry extends SearchDocument {
  readonly number: number;
  /** The title as it is compared with a query. */
  readonly name: string;
  /** Every token in the order of the text. */
  readonly words: readonly Word[];
  /** For each field, how many tokens it and the fields before it have. */
  readonly ends: readonly number[];
}

/** The inverted index: which documents hold a term, and what each document says. */
export class Collection {
  readonly dictionary = new Dictionary();
  /** By number; a number is free again once its document is removed. */
  readonly entries: (Entry | undefined)[] = [];
  /** By number: how many telling words a document has. */
  readonly lengths: number[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #free: number[] = [];
  #totalLength = 0;
  /** Where the words of a document are gathered; it has grown for the ones before. */
  readonly #words: Word[] = [];

  get size(): number {
    return this.#numbers.size;
  }

  get averageLength(): number {
    return this.#totalLength / this.size;
  }

  /** The documents whose id is accepted. */
  documents(accepts: (id: string) => boolean): Entry[] {
    return this.entries.filter((entry): entry is Entry => !!entry && accepts(entry.id));
  }

  add({ id, fields }: SearchDocument): void {
    const number = this.#free.pop() ?? this.entries.length;
    const words = this.#words;
    const ends: number[] = [];
    let count = 0;
    let length = 0;
    let weight = 0;
    const visit = (token: Token) => {
      const word = this.dictionary.add(token.word, token.term);
      words[count++] = word;
      word.term.postings = withWeight(word.term.postings, number, weight);
      if (!word.stop && (token.kind === 'word' || token.kind === 'letter')) length += 1;
    };
    for (const field of fieldNames) {
      weight = fieldWeights[field];
      analyse(fields[field] ?? '', visit);
      ends.push(count);
    }
    this.#numbers.set(id, number);
    this.entries[number] = {
      id,
      fields,
      number,
      name: plain(fields.title),
      // Copies: a list that was made to grow has room for more.
      words: words.slice(0, count),
      ends: ends.slice(),
    };
    this.lengths[number] = length;
    this.#totalLength += length;
  }

  remove(id: string): void {
    const number = this.#numbers.get(id);
    const entry = number === undefined ? undefined : this.entries[number];
    if (number === undefined || entry === undefined) return;
    for (const term of new Set(entry.words.map((word) => word.term))) {
      term.postings = without(term.postings, number);
    }
    for (const word of entry.words) this.dictionary.remove(word);
    this.#totalLength -= this.lengths[number] ?? 0;
    this.#numbers.delete(id);
    this.entries[number] = undefined;
    this.#free.push(number);
  }
}
