import type { HitChange, SearchHit } from '../../core/memory/search-hit.ts';
import { formatAddress } from '../../core/names/record-address.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import { SearchIndex } from '../../store/search/index.ts';
import { type WordExcerpt, WordTable } from '../../store/search/meaning/word-table.ts';
import { OwnAliases } from '../../store/search/query/own-aliases.ts';
import { type HitDoubts, trustedSearch } from '../../store/search/trusted-search.ts';

/** The texts of a record that a search finds, and what is known for and against them. */
export interface SearchedRecord {
  readonly fields: SearchFields;
  /** The last change of the record, then of its sections by their paths, where it is another one. */
  readonly changed?: HitChange;
  readonly sections: { readonly [section: string]: HitChange };
  /** Why not to rely on the record or a section, by address. */
  readonly doubts: { readonly [address: string]: HitDoubts };
}

/** Vectors of words and of records, each in letters (base64). */
export interface CopiedWords extends Omit<WordExcerpt, 'vectors'> {
  readonly vectors: string;
  /** The vectors of each record, by path. */
  readonly records: { readonly [path: string]: string };
}

/** The things next to the records that a search in a copy needs. */
interface Surroundings {
  readonly synonyms: readonly (readonly string[])[];
  /** Undefined for a search by words alone. */
  readonly words: CopiedWords | undefined;
}

/** A record that a search in a copy has found. */
export type CopiedHit = Omit<SearchHit, 'type' | 'key' | 'value' | 'fields'>;

interface CopiedRequest {
  readonly query: string;
  readonly fuzzy: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly accepts: (path: string) => boolean;
}

/** The longest time to index without a pause for the page, in milliseconds. */
const maxSlice = 30;

/** Searches the records of a copy, without a file and without a process, as the memory is searched. */
export class CopiedSearch {
  readonly #index = new SearchIndex();
  readonly #records: ReadonlyMap<string, SearchedRecord>;
  readonly #aliases: OwnAliases;
  readonly #table: WordTable | undefined;

  private constructor(
    records: ReadonlyMap<string, SearchedRecord>,
    { synonyms, words }: Surroundings,
  ) {
    this.#records = records;
    this.#aliases = new OwnAliases(() => synonyms);
    this.#table = words && WordTable.of({ ...words, vectors: bytesIn(words.vectors) });
  }

  /** Makes the index of the records, with pauses for other work. */
  static async of(
    records: ReadonlyMap<string, SearchedRecord>,
    surroundings: Surroundings,
  ): Promise<CopiedSearch> {
    const search = new CopiedSearch(records, surroundings);
    const { words } = surroundings;
    let start = performance.now();
    for (const [id, { fields }] of records) {
      search.#index.upsert({ id, fields });
      const vectors = words?.records[id];
      if (vectors !== undefined) search.#index.setVectors(id, bytesIn(vectors));
      if (performance.now() - start < maxSlice) continue;
      await new Promise((resolve) => setTimeout(resolve));
      start = performance.now();
    }
    return search;
  }

  /** Finds records as `Store.search` does, with the reasons of each hit. */
  find(request: CopiedRequest) {
    return trustedSearch<CopiedHit, CopiedRequest & { readonly sure?: number }, CopiedResult>(
      request,
      {
        find: async (wanted) => this.#find(wanted),
        doubts: async (addresses) => this.#doubts(addresses),
        dated: async (hits) => hits.map((hit) => ({ ...hit, ...this.#changeOf(hit) })),
      },
    );
  }

  #find({ query, fuzzy, limit, offset, accepts }: CopiedRequest): CopiedResult {
    const { hits, total } = this.#index.search(query, {
      filter: accepts,
      limit,
      offset,
      fuzzy: fuzzy && /[\p{L}\p{N}]/u.test(query),
      explain: true,
      ...(fuzzy && { aliases: this.#aliases.now, table: this.#table }),
    });
    return {
      hits: hits.map(({ id, later, ...hit }) => ({
        ...hit,
        path: id,
        ...(later && { later: formatAddress(later) }),
      })),
      total,
    };
  }

  #doubts(addresses: readonly string[]): ReadonlyMap<string, HitDoubts> {
    return new Map(
      addresses.flatMap((address) => {
        const { doubts = {} } = this.#records.get(address.replace(/#.*/s, '')) ?? {};
        const found = Object.hasOwn(doubts, address) ? doubts[address] : undefined;
        return found ? [[address, found] as const] : [];
      }),
    );
  }

  #changeOf({ path, section = '' }: CopiedHit): Pick<CopiedHit, 'changed'> {
    const { changed, sections = {} } = this.#records.get(path) ?? {};
    const found = Object.hasOwn(sections, section) ? sections[section] : changed;
    return found ? { changed: found } : {};
  }
}

interface CopiedResult {
  readonly hits: readonly CopiedHit[];
  readonly total: number;
}

/** Reads bytes that are in letters (base64). */
export function bytesIn(letters: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
}
