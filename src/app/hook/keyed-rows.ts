import { bytesOf, type SectionFile } from '../../store/derived/section-file.ts';
import { packTexts, placeIn, StoredTexts, textSections } from '../../store/derived/text-list.ts';

/** The sections by position. */
const sections = { keys: 0, rowsAt: textSections, rows: textSections + 1 } as const;
/** The number of these sections. */
export const keyedSections = textSections + 2;

/** Encodes the row numbers of each key as sections. */
export function encodeKeyedRows(rowsByKey: ReadonlyMap<string, readonly number[]>): Uint8Array[] {
  const sorted = [...rowsByKey].sort(([one], [other]) => (one < other ? -1 : 1));
  const rowsAt = new Uint32Array(sorted.length + 1);
  for (const [i, [, rows]] of sorted.entries()) rowsAt[i + 1] = (rowsAt[i] ?? 0) + rows.length;
  const rows = Uint32Array.from(sorted.flatMap(([, one]) => one));
  return [...packTexts(sorted.map(([key]) => key)), bytesOf(rowsAt), bytesOf(rows)];
}

/** Row numbers by key in a file; a look-up decodes a few keys only. */
export class KeyedRows {
  /** Sorted. */
  readonly #keys: StoredTexts;
  readonly #rowsAt: Uint32Array;
  readonly #rows: Uint32Array;

  private constructor(keys: StoredTexts, rowsAt: Uint32Array, rows: Uint32Array) {
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
    const keys = StoredTexts.read(file, first + sections.keys, true);
    const rowsAt = keys && file.integers(first + sections.rowsAt, keys.length + 1);
    const rows = file.numbers(first + sections.rows);
    return keys && rowsAt && rows ? new KeyedRows(keys, rowsAt, rows) : undefined;
  }

  /** The rows of a key; empty for an unknown one. */
  get(key: string): Uint32Array {
    const place = placeIn(this.#keys, key);
    if (place < 0) return this.#rows.subarray(0, 0);
    return this.#rows.subarray(this.#rowsAt[place], this.#rowsAt[place + 1]);
  }
}
