import { DeflatedBytes, DeflatedBytesWriter } from './deflated-bytes.ts';
import { PagedBytes, pageBytes } from './paged-bytes.ts';
import { bytesOf, type SectionFile } from './section-file.ts';

/** A list of texts; a list in a file decodes each text when it is read. */
export interface TextList {
  readonly length: number;
  at(place: number): string | undefined;
}

/** The sections by position; the bytes are two sections, as they are or deflated. */
const sections = { ends: 0, bytes: 1 } as const;
/** The number of these sections. */
export const textSections = 3;

/** Encodes texts as sections, each of which is read quickly. */
export function packTexts(texts: readonly string[]): Uint8Array[] {
  const ends = new Ends();
  const bytes = texts.map((text) => Buffer.from(text));
  for (const { length } of bytes) ends.add(length);
  return [ends.section, ...pageBytes(Buffer.concat(bytes))];
}

/** Encodes texts as sections that are small: neighbours are often alike, and read one after the other. */
export class DeflatedTextsWriter {
  readonly #ends = new Ends();
  readonly #bytes = new DeflatedBytesWriter();

  add(text: string): void {
    const bytes = Buffer.from(text);
    this.#bytes.add(bytes);
    this.#ends.add(bytes.length);
  }

  /** Returns the sections. */
  finish(): Uint8Array[] {
    return [this.#ends.section, ...this.#bytes.finish()];
  }
}

/** The end of each text in the bytes of all, after a 0. */
class Ends {
  readonly #all = [0];
  #last = 0;

  add(length: number): void {
    this.#last += length;
    this.#all.push(this.#last);
  }

  get section(): Uint8Array {
    return bytesOf(Uint32Array.from(this.#all));
  }
}

/** Texts in a file. A short process reads few of many, so they are not all decoded. */
export class StoredTexts implements TextList {
  readonly length: number;
  readonly #ends: Uint32Array;
  readonly #bytes: PagedBytes | DeflatedBytes;

  private constructor(ends: Uint32Array, bytes: PagedBytes | DeflatedBytes) {
    this.length = ends.length - 1;
    this.#ends = ends;
    this.#bytes = bytes;
  }

  /**
   * Reads what `packTexts` has made; undefined if it is missing or damaged.
   *
   * @param first the position of its first section.
   * @param whole whether all of it is checked at once; see `PagedBytes`.
   */
  static read(file: SectionFile, first: number, whole: boolean): StoredTexts | undefined {
    return StoredTexts.#of(file, first, PagedBytes.read(file, first + sections.bytes, whole));
  }

  /** The same for what `DeflatedTextsWriter` has made, of which each block is checked when it is read. */
  static readDeflated(file: SectionFile, first: number): StoredTexts | undefined {
    return StoredTexts.#of(file, first, DeflatedBytes.read(file, first + sections.bytes));
  }

  static #of(
    file: SectionFile,
    first: number,
    bytes: PagedBytes | DeflatedBytes | undefined,
  ): StoredTexts | undefined {
    const ends = file.numbers(first + sections.ends);
    return ends && bytes && ends.length > 0 ? new StoredTexts(ends, bytes) : undefined;
  }

  /** @throws Error when the text is damaged and was not checked before. */
  at(place: number): string | undefined {
    if (place < 0 || place >= this.length) return undefined;
    return this.#bytes.text(this.#ends[place] ?? 0, this.#ends[place + 1] ?? 0);
  }
}

/** Returns the place of a text in a sorted list; -1 if it is not there. */
export function placeIn(sorted: TextList, text: string): number {
  const place = placeFrom(sorted, text);
  return sorted.at(place) === text ? place : -1;
}

/** Returns the place of a text in a sorted list, or the one where it belongs. */
export function placeFrom(sorted: TextList, text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted.at(middle) ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
