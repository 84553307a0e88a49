import { analyse } from '../text/analyser.ts';
import type { Aliases } from './query.ts';

/** Groups of words that mean the same. */
type Groups = readonly (readonly string[])[];

/** The synonyms that the settings of a memory name, prepared again when the settings changed. */
export class OwnAliases {
  readonly #synonyms: () => Groups;
  #known: { readonly groups: Groups; readonly aliases: Aliases } | undefined;

  /** @param synonyms returns the same list as long as it does not change. */
  constructor(synonyms: () => Groups) {
    this.#synonyms = synonyms;
  }

  /** The present synonyms; undefined for none. */
  get now(): Aliases | undefined {
    const groups = this.#synonyms();
    if (groups.length === 0) return undefined;
    if (this.#known?.groups !== groups) this.#known = { groups, aliases: aliasesOf(groups) };
    return this.#known.aliases;
  }
}

/** Prepares groups of words: the stems that belong to each stem. */
export function aliasesOf(groups: Groups): Aliases {
  const found = new Map<string, Set<string>>();
  for (const group of groups) {
    const stems = group.flatMap((word) => stemOf(word) ?? []);
    for (const stem of stems) {
      const others = found.get(stem) ?? new Set();
      for (const other of stems) if (other !== stem) others.add(other);
      found.set(stem, others);
    }
  }
  return { of: (term) => found.get(term) ?? [] };
}

/** The stem under which the index has a whole word; undefined if it has none, as for three letters of Chinese. */
function stemOf(word: string): string | undefined {
  let stem: string | undefined;
  analyse(word, ({ start, end, term }) => {
    if (end - start === word.length) stem = term;
  });
  return stem;
}
