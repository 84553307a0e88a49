import { posix } from 'node:path';
import { addTo } from '../../core/values/multimap.ts';
import type { KnownRecord } from './record-source.ts';

/** A relative link of a markdown text. */
const link = /\]\(<?([^)\s>#?]+\.(?:md|yaml))[^)]*\)/g;

/** Finds the records that a record names: in a field called like their type, or by a link in its text. */
export class RecordLinks {
  readonly #byPath = new Map<string, KnownRecord>();
  readonly #byName = new Map<string, KnownRecord>();
  readonly #records: readonly KnownRecord[];
  /** The records that name each record; undefined until it is needed. */
  #naming: ReadonlyMap<KnownRecord, readonly KnownRecord[]> | undefined;

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
    const found = new Set(this.#named(record).map(({ target }) => target));
    for (const value of Object.values(record.value)) {
      for (const text of textsOf(value)) {
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

  /**
   * Returns the parts of all records: pairs of a whole and a part.
   *
   * A field that names one record, such as `objective`, names the whole; a list, such as `features`, names
   * parts. A key such as `auth/oauth` is a part of the nearest record above it, such as `auth`.
   */
  parts(): readonly (readonly [KnownRecord, KnownRecord])[] {
    return this.#records.flatMap((record) => {
      const above = this.#above(record);
      const named = this.#named(record).map(({ target, isList }) =>
        isList ? ([record, target] as const) : ([target, record] as const),
      );
      return above ? [[above, record] as const, ...named] : named;
    });
  }

  /** Returns the records that fields of a record name. */
  #named(record: KnownRecord) {
    return Object.entries(record.value).flatMap(([field, value]) =>
      textsOf(value).flatMap((text) => {
        const target = this.#byName.get(`${field.replace(/s$/, '')} ${text}`);
        return target && target !== record ? [{ target, isList: Array.isArray(value) }] : [];
      }),
    );
  }

  #above({ type, key }: KnownRecord): KnownRecord | undefined {
    for (let end = key.lastIndexOf('/'); end > 0; end = key.lastIndexOf('/', end - 1)) {
      const name = `${type.name} ${key.slice(0, end)}`;
      const above = this.#byName.get(name) ?? this.#byName.get(`${name}/`);
      if (above && above.key !== key) return above;
    }
    return undefined;
  }

  /** Returns the record at a path. */
  at(path: string): KnownRecord | undefined {
    return this.#byPath.get(path);
  }

  /** Returns the records that name a record. */
  to(record: KnownRecord): readonly KnownRecord[] {
    this.#naming ??= this.#allNaming();
    return this.#naming.get(record) ?? [];
  }

  #allNaming(): ReadonlyMap<KnownRecord, readonly KnownRecord[]> {
    const naming = new Map<KnownRecord, KnownRecord[]>();
    for (const record of this.#records) {
      for (const named of this.from(record)) {
        addTo(naming, named, record);
      }
    }
    return naming;
  }
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
