import { byteSum } from '../../core/checksum.ts';
import { bytesOf, type SectionFile } from '../records/section-file.ts';

const pageSize = 4096;
/** Bytes of at most this length are read at once. */
const readAtOnce = 4 * 1024 * 1024;
/** The number of sections: the bytes, and a checksum of each page. */
export const pagedSections = 2;

/** Returns bytes and the checksums of their pages as sections. */
export function pageBytes(bytes: Uint8Array): Uint8Array[] {
  const sums = new Uint32Array(Math.ceil(bytes.length / pageSize));
  for (let page = 0; page < sums.length; page++) {
    sums[page] = byteSum(bytes.subarray(page * pageSize, (page + 1) * pageSize));
  }
  return [bytes, bytesOf(sums)];
}

/** Bytes in a file, of which only the pages that are read are checked for damage. */
export class PagedBytes {
  readonly #file: SectionFile;
  readonly #section: number;
  readonly #sums: Uint32Array;
  readonly #checked: Uint8Array;
  readonly #whole: Uint8Array | undefined;
  #all: Uint8Array | undefined;

  private constructor(
    file: SectionFile,
    section: number,
    sums: Uint32Array,
    whole: Uint8Array | undefined,
  ) {
    this.#whole = whole;
    this.#file = file;
    this.#section = section;
    this.#sums = sums;
    this.#checked = new Uint8Array(sums.length);
  }

  /**
   * Reads what `pageBytes` has made; undefined if it is missing or damaged.
   *
   * @param first the position of its first section.
   * @param whole whether all pages are checked at once, for a file that is in memory.
   */
  static read(file: SectionFile, first: number, whole: boolean): PagedBytes | undefined {
    const sums = file.numbers(first + 1);
    const all = whole ? file.section(first) : undefined;
    return sums && (all || !whole) ? new PagedBytes(file, first, sums, all) : undefined;
  }

  /**
   * Returns a range of the bytes; of a file that is in memory, as much of it as there is.
   *
   * @throws Error when a page of another file is damaged or missing.
   */
  range(from: number, to: number): Uint8Array {
    if (this.#whole) return this.#whole.subarray(from, to);
    const first = Math.floor(from / pageSize);
    const end = Math.ceil(to / pageSize);
    let isChecked = true;
    for (let page = first; page < end; page++) isChecked &&= this.#checked[page] === 1;
    if (isChecked) return this.#part(from, to);
    const length = this.#file.lengthOf(this.#section);
    const bytes = this.#part(first * pageSize, Math.min(end * pageSize, length));
    for (let page = first; page < end; page++) {
      const start = (page - first) * pageSize;
      const sum = this.#file.sumOf(bytes.subarray(start, start + pageSize));
      if (sum !== this.#sums[page]) throw damaged();
      this.#checked[page] = 1;
    }
    return bytes.subarray(from - first * pageSize, to - first * pageSize);
  }

  /** All bytes, unless they are more than a limit or damaged. */
  all(limit: number): Uint8Array | undefined {
    if (this.#whole) return this.#whole;
    return this.#file.lengthOf(this.#section) <= limit
      ? this.#file.section(this.#section)
      : undefined;
  }

  #part(from: number, to: number): Uint8Array {
    if (this.#file.lengthOf(this.#section) <= readAtOnce) {
      this.#all ??= this.#file.part(this.#section);
    }
    const bytes = this.#all?.subarray(from, to) ?? this.#file.part(this.#section, from, to);
    if (bytes?.length !== to - from) throw damaged();
    return bytes;
  }
}

function damaged(): Error {
  return new Error('The saved index is damaged.');
}
