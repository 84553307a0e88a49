import type { HitChange, SearchHit } from '../../core/memory/search-hit.ts';
import { formatAddress } from '../../core/names/record-address.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import { SearchIndex } from '../../store/search/index.ts';
import { preparedMeaning } from '../../store/search/meaning/learned-meaning.ts';
import type { PreparedMeaning } from '../../store/search/meaning/meaning.ts';
import { type WordExcerpt, WordTable } from '../../store/search/meaning/word-table.ts';
import { WordVectors } from '../../store/search/meaning/word-vectors.ts';
import { OwnAliases } from '../../store/search/query/own-aliases.ts';
import { vectorBytes } from '../../store/search/terms/document-vectors.ts';
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

/** The words and records that have vectors in a copy. */
export interface CopiedWords {
  /** Words of the table that ships with the program; `null` without it. */
  readonly table: Omit<WordExcerpt, 'vectors'> | null;
  /** The number of bytes of the vectors of each record, by path. */
  readonly records: { readonly [path: string]: number };
  /** Terms whose vectors were learned from the memory and its project: sorted, and none of a small memory. */
  readonly learned: readonly string[];
}

/** Words with their vectors: those of the table, those of the records, and the learned ones with their rarities. */
export interface CopiedMeaning {
  readonly words: CopiedWords;
  readonly vectors: Uint8Array<ArrayBuffer>;
}

/** The things next to the records that a search in a copy needs. */
interface Surroundings {
  readonly synonyms: readonly (readonly string[])[];
  readonly meaning: CopiedMeaning;
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
  readonly #meanings: readonly PreparedMeaning[];
  /** The vectors of the records, by path. */
  readonly #vectors = new Map<string, Uint8Array>();

  private constructor(
    records: ReadonlyMap<string, SearchedRecord>,
    { synonyms, meaning: { words, vectors } }: Surroundings,
  ) {
    this.#records = records;
    this.#aliases = new OwnAliases(() => synonyms);
    let at = 0;
    const next = (length: number) => {
      at += length;
      return new Uint8Array(vectors.subarray(at - length, at));
    };
    const { table, learned } = words;
    this.#table =
      table === null
        ? undefined
        : WordTable.of({ ...table, vectors: next(table.words.length * vectorBytes) });
    for (const [path, length] of Object.entries(words.records)) {
      this.#vectors.set(path, next(length));
    }
    const rarities = new Float32Array(next(4 * learned.length).buffer);
    const own = new WordVectors(learned, rarities, new Int8Array(next(vectors.length - at).buffer));
    this.#meanings = learned.length === 0 ? [] : [preparedMeaning(own)];
  }

  /** Makes the index of the records, with pauses for other work. */
  static async of(
    records: ReadonlyMap<string, SearchedRecord>,
    surroundings: Surroundings,
  ): Promise<CopiedSearch> {
    const search = new CopiedSearch(records, surroundings);
    let start = performance.now();
    for (const [id, { fields }] of records) {
      search.#index.upsert({ id, fields });
      const vectors = search.#vectors.get(id);
      if (vectors) search.#index.setVectors(id, vectors);
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
      ...(fuzzy && { aliases: this.#aliases.now, table: this.#table, meanings: this.#meanings }),
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
