import { invalid } from '../core/error.ts';
import type { AnyRecordType, SearchFields } from '../core/record-type.ts';
import type { SearchHit, SearchRequest, SearchResult } from '../core/store.ts';
import { toListing } from './draft.ts';
import type { RecordFile } from './record-file.ts';
import { type Hit, SearchIndex } from './search/index.ts';
import { SearchFilter } from './search-filter.ts';
import type { View } from './view.ts';

const maxLimit = 1000;

interface Indexed {
  readonly type: AnyRecordType;
  readonly fields: SearchFields;
}

/** The search index over the records of a view, brought up to date when it is asked for. */
export class RecordSearch {
  readonly #view: View;
  readonly #types: readonly AnyRecordType[];
  /** Made when it is first asked for. */
  #index: SearchIndex | undefined;
  readonly #records = new Map<string, Indexed>();
  readonly #changed = new Set<string>();

  constructor(view: View, types: readonly AnyRecordType[]) {
    this.#view = view;
    this.#types = types;
    view.onChange((path) => {
      if (this.#index) this.#changed.add(path);
    });
  }

  /**
   * Searches what the view has now.
   *
   * @param mayRead whether a record may be found, or named as damaged.
   */
  find(request: SearchRequest, mayRead: (path: string) => boolean): SearchResult {
    const { query, types = this.#types, limit = 20 } = request;
    if (query.trim() === '') throw invalid(['query'], 'must not be blank');
    const filter = new SearchFilter(request, types);
    const index = this.#upToDate();
    const { hits, total } = index.search(query, {
      filter: (path) => {
        const record = this.#records.get(path);
        return (
          record !== undefined && filter.accepts(path, record.type, record.fields) && mayRead(path)
        );
      },
      limit: Math.min(limit, maxLimit),
      // Words are made of letters and digits; anything else can only be found as it stands.
      fuzzy: (request.fuzzy ?? true) && /[\p{L}\p{N}]/u.test(query),
    });
    const damaged = types.flatMap((type) => {
      const files = this.#view.broken(type).filter(({ path }) => mayRead(path));
      return toListing(files, this.#view).damaged;
    });
    return { hits: hits.flatMap((hit) => this.#hit(hit)), total, damaged };
  }

  #hit({ id, score, matches, snippet }: Hit): SearchHit[] {
    const record = this.#view.known(id);
    if (record?.key === undefined || !record.value) return [];
    const { type, key, path, value } = record;
    return [{ type, key, path, value, score, matches, snippet }];
  }

  /** The index over what the view has now; the first call reads every record. */
  #upToDate(): SearchIndex {
    if (!this.#index) {
      const index = new SearchIndex();
      this.#records.clear();
      for (const type of this.#types) {
        for (const record of this.#view.all(type)) this.#update(index, record.path, record);
      }
      this.#index = index;
    }
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const path of changed) this.#update(this.#index, path, this.#view.known(path));
    return this.#index;
  }

  #update(index: SearchIndex, path: string, record: RecordFile | undefined): void {
    if (!record?.value || this.#view.shadowedBy(record) !== undefined) {
      if (this.#records.delete(path)) index.remove(path);
      return;
    }
    const fields: SearchFields = record.type.search(record.value);
    this.#records.set(path, { type: record.type, fields });
    index.upsert({ id: path, fields });
  }
}
