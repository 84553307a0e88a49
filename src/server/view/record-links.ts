import { posix } from 'node:path';
import type { KnownRecord } from './record-source.ts';

/** A relative link of a markdown text. */
const link = /\]\(<?([^)\s>#?]+\.(?:md|yaml))[^)]*\)/g;

/** Finds the records that a record names: in a field called like their type, or by a link in its text. */
export class RecordLinks {
  readonly #byPath = new Map<string, KnownRecord>();
  readonly #byName = new Map<string, KnownRecord>();
  readonly #records: readonly KnownRecord[];

  constructor(records: readonly KnownRecord[]) {
    this.#records = records;
    for (const record of records) {
      const { type, path, key, value } = record;
      this.#byPath.set(path, record);
      for (const name of [key, type.id?.(value)]) {
        if (name !== undefined) this.#byName.set(`${type.name} ${name}`, record);
      }
    }
  }

  /** Returns the records that a record names, each once. */
  from(record: KnownRecord): readonly KnownRecord[] {
    const found = new Set<KnownRecord>();
    for (const [field, value] of Object.entries(record.value)) {
      for (const text of textsOf(value)) {
        const named = this.#byName.get(`${field.replace(/s$/, '')} ${text}`);
        if (named) found.add(named);
        if (!text.includes('](')) continue;
        for (const [, target = ''] of text.matchAll(link)) {
          const linked = this.#byPath.get(posix.join(posix.dirname(record.path), target));
          if (linked) found.add(linked);
        }
      }
    }
    found.delete(record);
    return [...found];
  }

  /** Returns the records that name a record. */
  to(record: KnownRecord): readonly KnownRecord[] {
    return this.#records.filter((one) => one !== record && this.from(one).includes(record));
  }
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
