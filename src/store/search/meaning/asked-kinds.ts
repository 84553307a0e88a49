import { addTo } from '../../../core/values/multimap.ts';
import { rarity, weigh } from '../terms/bm25.ts';
import { documentOf, weightOf } from '../terms/postings.ts';
import type { SearchedCollection } from '../terms/searched-collection.ts';
import { stem } from '../text/analyser.ts';
import { divided } from '../text/related-stems.ts';
import { stopWords } from '../text/stop-words.ts';
import { kinds } from './known-things.ts';

/** The first letters of a word that its stem has in common with it; later ones may differ. */
const kept = 2;

/** A name of a kind in its words, the things of that kind, and all its names of one word. */
interface NamedKind {
  readonly name: readonly string[];
  readonly things: string;
  readonly names: readonly string[];
}

/** A kind that a query asks for. */
export interface AskedKind {
  /** The words of the query. */
  readonly asked: string;
  /** The stems of the things, and of the other names of the kind. */
  readonly things: ReadonlySet<string>;
}

/** The kinds by the first letters of their names: a short process cannot stem all words. */
let known: ReadonlyMap<string, readonly NamedKind[]> | undefined;

/** Finds the kinds that are named by the stems of a query. */
export function askedKinds(terms: ReadonlySet<string>): AskedKind[] {
  known ??= byLetters();
  // Each kind by the longest of its names.
  const found = new Map<string, NamedKind>();
  for (const term of terms) {
    for (const kind of known.get(term.slice(0, kept)) ?? []) {
      const { name, things } = kind;
      const [first = '', ...others] = name;
      if (stem(first) !== term || !others.every((word) => terms.has(stem(word)))) continue;
      if (name.length > (found.get(things)?.name.length ?? 0)) found.set(things, kind);
    }
  }
  return [...found.values()].map(({ name, things, names }) => ({
    asked: name.join(' '),
    things: new Set([...divided(things), ...names].map(stem).filter((thing) => !terms.has(thing))),
  }));
}

function byLetters(): Map<string, NamedKind[]> {
  const found = new Map<string, NamedKind[]>();
  for (const entry of kinds.split(';')) {
    const [names = '', things = ''] = entry.split(':');
    const all = names.split(',').map(divided);
    const single = all.flatMap((name) => (name.length === 1 ? name : []));
    for (const words of all) {
      const name = words.filter((word) => !stopWords.has(word));
      if (name[0]) addTo(found, name[0].slice(0, kept), { name, things, names: single });
    }
  }
  return found;
}

/**
 * Rates documents by the things of the kinds that a query asks for.
 *
 * @param to gets the scores of the words for the things, by number.
 */
export function rateKinds(
  asked: readonly AskedKind[],
  collection: SearchedCollection,
  to: Float64Array,
): void {
  for (const { things } of asked) {
    const frequencies = new Map<number, number>();
    for (const thing of things) {
      for (const posting of collection.dictionary.term(thing)?.postings ?? []) {
        const number = documentOf(posting);
        frequencies.set(number, (frequencies.get(number) ?? 0) + weightOf(posting));
      }
    }
    const value = rarity(frequencies.size, collection.size);
    for (const [number, frequency] of frequencies) {
      const found = weigh(frequency, collection.lengthOf(number), collection.averageLength);
      to[number] = (to[number] ?? 0) + value * found;
    }
  }
}
