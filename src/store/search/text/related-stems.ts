import { addTo } from '../../../core/values/multimap.ts';
import { stem } from './analyser.ts';

/** A word, and those that belong to it with spaces between them. */
export type Relation = readonly [word: string, others: string];

/** The first letters of a word that its stem has in common with it; later ones may differ. */
const kept = 2;

/** The stems that belong to a stem, found when they are asked for: a short process cannot stem all words. */
export class RelatedStems {
  readonly #relations: () => Iterable<Relation>;
  /** The relations by the first letters of the word, once they are read. */
  #byLetters: ReadonlyMap<string, readonly Relation[]> | undefined;
  readonly #known = new Map<string, ReadonlySet<string>>();

  constructor(relations: () => Iterable<Relation>) {
    this.#relations = relations;
  }

  of(term: string): Iterable<string> {
    const found = this.#known.get(term) ?? this.#find(term);
    // Only words with relations are kept: the number of the others is not bounded.
    if (found.size > 0) this.#known.set(term, found);
    return found;
  }

  #find(term: string): Set<string> {
    this.#byLetters ??= byLetters(this.#relations());
    const found = new Set<string>();
    for (const [word, others] of this.#byLetters.get(term.slice(0, kept)) ?? []) {
      if (stem(word) !== term) continue;
      for (const other of divided(others)) found.add(stem(other));
    }
    found.delete(term);
    return found;
  }
}

/** The words of a text. */
export function divided(text: string): string[] {
  return text.trim().split(/\s+/);
}

function byLetters(relations: Iterable<Relation>): Map<string, Relation[]> {
  const found = new Map<string, Relation[]>();
  for (const relation of relations) addTo(found, relation[0].slice(0, kept), relation);
  return found;
}
