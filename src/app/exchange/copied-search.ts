import { formatAddress } from '../../core/markdown/section-statements.ts';
import type { HitChange, SearchHit } from '../../core/memory/search-hit.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import { SearchIndex } from '../../store/search/index.ts';
import { aliasesOf } from '../../store/search/query/own-aliases.ts';
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
  readonly #synonyms: readonly (readonly string[])[];

  private constructor(
    records: ReadonlyMap<string, SearchedRecord>,
    synonyms: readonly (readonly string[])[],
  ) {
    this.#records = records;
    this.#synonyms = synonyms;
  }

  /** Makes the index of the records, with pauses for other work. */
  static async of(
    records: ReadonlyMap<string, SearchedRecord>,
    synonyms: readonly (readonly string[])[],
  ): Promise<CopiedSearch> {
    const search = new CopiedSearch(records, synonyms);
    let start = performance.now();
    for (const [id, { fields }] of records) {
      search.#index.upsert({ id, fields });
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
      ...(fuzzy && this.#synonyms.length > 0 && { aliases: aliasesOf(this.#synonyms) }),
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
