import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { checkSize } from '../../git/disk/folder.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { decodeText, maxFileBytes } from '../records/record-file.ts';
import type { PathChange } from './change-index.ts';

/** The record in one blob; without key and value if it cannot be decoded. */
export interface RecordVersion {
  readonly type: AnyRecordType;
  readonly text: string;
  readonly key: string | undefined;
  readonly value: object | undefined;
}

/** Reads versions of records by blob, for one call; it reads no trees. */
export class Versions {
  readonly #odb: ObjectDatabase;
  readonly #typeOf: (path: string) => AnyRecordType | undefined;
  /** Keys by path and blob: one record is compared with many. */
  readonly #keys = new Map<string, string | undefined>();
  /** The version that was read last; a history needs each version twice in a row. */
  #last: { readonly path: string; readonly blob: Oid; readonly version: RecordVersion } | undefined;

  constructor(odb: ObjectDatabase, typeOf: (path: string) => AnyRecordType | undefined) {
    this.#odb = odb;
    this.#typeOf = typeOf;
  }

  /** Reads the record in a blob, of the type that its path says; undefined without a type or blob. */
  read(path: string, blob: Oid | undefined): RecordVersion | undefined {
    const type = this.#typeOf(path);
    if (!type || blob === undefined) return undefined;
    if (this.#last?.path !== path || this.#last.blob !== blob) {
      this.#last = { path, blob, version: this.#read(type, path, blob) };
    }
    return this.#last.version;
  }

  #read(type: AnyRecordType, path: string, blob: Oid): RecordVersion {
    let text = '';
    try {
      text = this.text(path, blob);
      const value: object = type.codec.decode(text, path);
      return { type, text, key: type.key(value), value };
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      // A blob that is not text has no lines to compare; it is still reported as different.
      return { type, text, key: undefined, value: undefined };
    }
  }

  /** @throws MemoryError `damaged` if the blob is missing or not text; `too_large`. */
  text(path: string, blob: Oid): string {
    const bytes = this.#odb.content(blob, 'blob');
    checkSize(path, bytes.length, maxFileBytes);
    return decodeText(bytes);
  }

  /** The removed record that an added one was moved from: one with its text, or else with its key. */
  sourceOf(added: PathChange, removed: readonly PathChange[]): PathChange | undefined {
    const type = this.#typeOf(added.path);
    const candidates = removed.filter(({ path }) => type && this.#typeOf(path) === type);
    const same = candidates.find(({ before }) => before === added.after);
    if (same || candidates.length === 0) return same;
    const key = this.#keyOf(added.path, added.after);
    if (key === undefined) return undefined;
    return candidates.find(({ path, before }) => this.#keyOf(path, before) === key);
  }

  #keyOf(path: string, blob: Oid | undefined): string | undefined {
    const at = `${blob} ${path}`;
    if (!this.#keys.has(at)) this.#keys.set(at, this.read(path, blob)?.key);
    return this.#keys.get(at);
  }
}
