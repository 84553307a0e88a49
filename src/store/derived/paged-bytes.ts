import { crc32 } from 'node:zlib';
import { bytesOf, type SectionFile } from './section-file.ts';

/** Bytes with one checksum. */
const pageSize = 4096;
/** Bytes that are read at once: a call takes as long as the copy of this many. */
const blockSize = 16 * pageSize;
/** The number of sections: the bytes, and a checksum of each page. */
export const pagedSections = 2;

/** Returns bytes and the checksums of their pages as sections. */
export function pageBytes(bytes: Uint8Array): Uint8Array[] {
  const sums = new Uint32Array(Math.ceil(bytes.length / pageSize));
  for (let page = 0; page < sums.length; page++) {
    sums[page] = crc32(bytes.subarray(page * pageSize, (page + 1) * pageSize));
  }
  return [bytes, bytesOf(sums)];
}

/** Bytes in a file, of which only the pages that are read are checked for damage. */
export class PagedBytes {
  readonly #length: number;
  readonly #file: SectionFile;
  readonly #section: number;
  readonly #sums: Uint32Array;
  readonly #checked: Uint8Array;
  readonly #blocks: (Buffer | undefined)[] = [];
  readonly #whole: Buffer | undefined;

  private constructor(
    file: SectionFile,
    section: number,
    sums: Uint32Array,
    whole: Uint8Array | undefined,
  ) {
    this.#length = file.lengthOf(section);
    this.#whole = whole && asBuffer(whole);
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
    const { bytes, start } = this.#around(from, to);
    return bytes.subarray(from - start, to - start);
  }

  /** Returns a range of bytes that are text, like `range`. */
  text(from: number, to: number): string {
    const { bytes, start } = this.#around(from, to);
    return bytes.toString('utf8', from - start, to - start);
  }

  /** Returns checked bytes that contain a range, and where they start. */
  #around(from: number, to: number): { readonly bytes: Buffer; readonly start: number } {
    if (this.#whole) return { bytes: this.#whole, start: 0 };
    const block = Math.floor(from / blockSize);
    const start = block * blockSize;
    const bytes = to > start + blockSize ? this.#read(start, to) : this.#blockAt(block);
    this.#check(bytes, start, from, to);
    return { bytes, start };
  }

  #blockAt(block: number): Buffer {
    this.#blocks[block] ??= this.#read(block * blockSize, (block + 1) * blockSize);
    return this.#blocks[block];
  }

  /** Reads whole pages. */
  #read(from: number, to: number): Buffer {
    const end = Math.min(Math.ceil(to / pageSize) * pageSize, this.#length);
    const bytes = this.#file.part(this.#section, from, end);
    if (!bytes) throw damaged();
    return asBuffer(bytes);
  }

  /** Checks the pages of a range, which is in the given bytes. */
  #check(bytes: Uint8Array, start: number, from: number, to: number): void {
    if (to - start > bytes.length) throw damaged();
    for (let page = Math.floor(from / pageSize); page * pageSize < to; page++) {
      if (this.#checked[page] === 1) continue;
      const at = page * pageSize - start;
      if (crc32(bytes.subarray(at, at + pageSize)) !== this.#sums[page]) throw damaged();
      this.#checked[page] = 1;
    }
  }
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function damaged(): Error {
  return new Error('The saved index is damaged.');
}
