import { bytesOf, type SectionFile } from '../../store/derived/section-file.ts';

/** The sections by position. */
const sections = { keysAt: 0, keys: 1, rowsAt: 2, rows: 3 } as const;
/** The number of these sections. */
export const keyedSections = 4;

/** Encodes the row numbers of each key as four sections. */
export function encodeKeyedRows(rowsByKey: ReadonlyMap<string, readonly number[]>): Uint8Array[] {
  const sorted = [...rowsByKey].sort(([one], [other]) => (one < other ? -1 : 1));
  const keysAt = new Uint32Array(sorted.length + 1);
  const rowsAt = new Uint32Array(sorted.length + 1);
  const keys = sorted.map(([key]) => Buffer.from(key));
  for (const [i, [, rows]] of sorted.entries()) {
    keysAt[i + 1] = (keysAt[i] ?? 0) + (keys[i]?.length ?? 0);
    rowsAt[i + 1] = (rowsAt[i] ?? 0) + rows.length;
  }
  const rows = Uint32Array.from(sorted.flatMap(([, one]) => one));
  return [bytesOf(keysAt), Buffer.concat(keys), bytesOf(rowsAt), bytesOf(rows)];
}

/** Row numbers by key in a file; a look-up decodes a few keys only. */
export class KeyedRows {
  readonly #keysAt: Uint32Array;
  readonly #keys: Buffer;
  readonly #rowsAt: Uint32Array;
  readonly #rows: Uint32Array;

  private constructor(keysAt: Uint32Array, keys: Buffer, rowsAt: Uint32Array, rows: Uint32Array) {
    this.#keysAt = keysAt;
    this.#keys = keys;
    this.#rowsAt = rowsAt;
    this.#rows = rows;
  }

  /**
   * Reads what `encodeKeyedRows` has made; undefined if it is missing or damaged.
   *
   * @param first the position of its first section.
   */
  static read(file: SectionFile, first: number): KeyedRows | undefined {
    const keysAt = file.numbers(first + sections.keysAt);
    const keys = file.section(first + sections.keys);
    const rowsAt = file.numbers(first + sections.rowsAt);
    const rows = file.numbers(first + sections.rows);
    if (!keysAt || !keys || !rowsAt || !rows || keysAt.length !== rowsAt.length) return undefined;
    const text = Buffer.from(keys.buffer, keys.byteOffset, keys.length);
    return new KeyedRows(keysAt, text, rowsAt, rows);
  }

  /** The rows of a key; empty for an unknown one. */
  get(key: string): Uint32Array {
    let from = 0;
    let to = this.#keysAt.length - 1;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#key(middle) < key) from = middle + 1;
      else to = middle;
    }
    if (this.#key(from) !== key) return this.#rows.subarray(0, 0);
    return this.#rows.subarray(this.#rowsAt[from], this.#rowsAt[from + 1]);
  }

  #key(at: number): string {
    return this.#keys.toString('utf8', this.#keysAt[at], this.#keysAt[at + 1] ?? 0);
  }
}
