import type { RecordKey } from '../../core/record/record-type.ts';
import type { LiveRecords } from '../records/live-records.ts';
import { lineOf } from './finding-lines.ts';
import type { CheckedRecord } from './record-evidence.ts';

/** Limit of the records that the fields of one record name. */
const maxKeys = 100;

/** A key in a field of a record that no record seems to have. */
export interface MissingLink extends RecordKey {
  /** The path of the record, and its line with the key. */
  readonly path: string;
  readonly line: number | undefined;
}

/** Finds the records that other records name. */
export class NamedRecords {
  readonly #view: LiveRecords;
  /** The paths of records by their type and key; many records can name the same one. */
  readonly #paths = new Map<string, string | undefined>();

  constructor(view: LiveRecords) {
    this.#view = view;
  }

  /**
   * The addresses of the other records and of the sections that a record names: in its text without
   * superseded sections, and by the keys in its fields.
   */
  of(record: CheckedRecord): string[] {
    const { path, type } = record;
    const value = type.dependsOn && record.value;
    const keys = (value && type.dependsOn?.(value)) ?? [];
    const linked = keys.slice(0, maxKeys).flatMap((key) => this.#pathOf(key) ?? []);
    return [...new Set([...record.links, ...linked])].filter((link) => link !== path);
  }

  /** The paths where the records may be that a record names by the keys in its fields. */
  placesOf(record: CheckedRecord): string[] {
    const { type } = record;
    // To decode a record takes long, and most types name no others.
    const value = type.dependsOn && record.value;
    const keys = (value && type.dependsOn?.(value)) ?? [];
    return keys.slice(0, maxKeys).flatMap(({ type, key }) => [...this.#view.candidates(type, key)]);
  }

  /** The keys in the fields of a record whose records are not where their keys lead. */
  missing(record: CheckedRecord): MissingLink[] {
    const { type, path } = record;
    const value = (type.dependsOn ?? type.linksTo) && record.value;
    if (!value) return [];
    const keys = [...(type.dependsOn?.(value) ?? []), ...(type.linksTo?.(value) ?? [])];
    return keys
      .filter((key) => this.#pathOf(key) === undefined)
      .map((key) => ({ ...key, path, line: lineOf(record.text, key.key) }));
  }

  #pathOf({ type, key }: RecordKey): string | undefined {
    const name = `${type.name} ${key}`;
    if (!this.#paths.has(name)) this.#paths.set(name, this.#view.at(type, key)?.path);
    return this.#paths.get(name);
  }
}
