import type { AnyRecordType, SearchFields } from '../core/record-type.ts';
import { SearchIndex } from './search/index.ts';
import type { View } from './view.ts';

interface Indexed {
  readonly type: AnyRecordType;
  readonly fields: SearchFields;
}

/** The search index over the records of a view, brought up to date when it is asked for. */
export class RecordSearch {
  readonly #view: View;
  readonly #types: readonly AnyRecordType[];
  readonly #index = new SearchIndex();
  readonly #records = new Map<string, Indexed>();
  readonly #changed = new Set<string>();
  #built = false;

  constructor(view: View, types: readonly AnyRecordType[]) {
    this.#view = view;
    this.#types = types;
    view.onChange((path) => this.#changed.add(path));
  }

  /** What is known of a record that is in the index. */
  record(path: string): Indexed | undefined {
    return this.#records.get(path);
  }

  /** The index over what the view has now; the first call reads every record. */
  upToDate(): SearchIndex {
    if (!this.#built) {
      for (const type of this.#types)
        for (const { path } of this.#view.all(type)) this.#changed.add(path);
      this.#built = true;
    }
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const path of changed) this.#update(path);
    return this.#index;
  }

  #update(path: string): void {
    const record = this.#view.known(path);
    if (!record?.value || this.#view.shadowedBy(record) !== undefined) {
      if (this.#records.delete(path)) this.#index.remove(path);
      return;
    }
    const fields: SearchFields = record.type.search(record.value);
    this.#records.set(path, { type: record.type, fields });
    this.#index.upsert({ id: path, fields });
  }
}
