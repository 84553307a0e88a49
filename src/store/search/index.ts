import { Collection } from './collection.ts';
import { type Hits, plain, type SearchDocument } from './document.ts';
import { literal } from './literal.ts';
import { plan } from './query.ts';
import { rank } from './ranking.ts';
import { excerpt } from './snippet.ts';

export type { Hit, Hits, SearchDocument } from './document.ts';

export interface SearchOptions {
  /** Only documents whose id it accepts are found and counted. */
  readonly filter?: (id: string) => boolean;
  /** At most this many hits. Default 20. */
  readonly limit?: number;
  /** False: the query as a literal, case-insensitive substring. Default true. */
  readonly fuzzy?: boolean;
}

/** The search engine: documents in memory, changed one at a time, found by their words. */
export class SearchIndex {
  readonly #collection = new Collection();

  /** How many documents there are. */
  get size(): number {
    return this.#collection.size;
  }

  /** Adds a document, or replaces the one with its id. */
  upsert(document: SearchDocument): void {
    this.#collection.remove(document.id);
    this.#collection.add(document);
  }

  /** Removes a document; nothing happens when there is none with this id. */
  remove(id: string): void {
    this.#collection.remove(id);
  }

  /** The documents that match, the best first; equally good ones by id. */
  search(query: string, options: SearchOptions = {}): Hits {
    const { filter = () => true, limit = 20, fuzzy = true } = options;
    const concepts = fuzzy ? plan(query, this.#collection.dictionary) : [];
    const name = plain(query);
    const { ranked, total } = rank(this.#collection, concepts, name, filter, limit);
    if (total === 0) {
      // Signs without letters, and the middle of a word, are found by no word of the index.
      return literal(this.#collection.documents(filter), query, limit, fuzzy ? 0.1 : 1);
    }
    const hits = ranked.slice(0, limit).map(({ entry, score }) => ({
      id: entry.id,
      score: Math.round(1e4 * score) / 1e4,
      ...excerpt(entry.fields, concepts),
    }));
    return { hits, total };
  }
}
