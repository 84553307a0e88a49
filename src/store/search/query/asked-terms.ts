import { addTo } from '../../../core/values/multimap.ts';
import { type Concept, isOther } from './query.ts';

/** The terms that a query asks for, by number: most tokens of a text are none of them. */
export class AskedTerms {
  /** 1 for a term of any concept. */
  readonly #marks: Uint8Array;
  readonly #concepts = new Map<number, number[]>();
  readonly #written = new Map<number, number[]>();

  /** @param count one more than the highest number of a term. */
  constructor(concepts: readonly Concept[], count: number) {
    this.#marks = new Uint8Array(count);
    for (const [index, concept] of concepts.entries()) {
      for (const term of concept.terms.keys()) {
        this.#marks[term.number] = 1;
        addTo(this.#concepts, term.number, index);
        if (!isOther(concept, term)) addTo(this.#written, term.number, index);
      }
    }
  }

  /** The concepts that ask for a term; undefined if none does. */
  conceptsOf(number: number): readonly number[] | undefined {
    return this.#marks[number] === 1 ? this.#concepts.get(number) : undefined;
  }

  /** Whether any concept asks for a term. */
  has(number: number): boolean {
    return this.#marks[number] === 1;
  }

  /** The concepts that ask for a term otherwise than as an abbreviation or synonym. */
  writtenBy(number: number): readonly number[] | undefined {
    return this.#marks[number] === 1 ? this.#written.get(number) : undefined;
  }
}
