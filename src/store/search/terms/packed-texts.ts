import { bytesOf, type SectionFile } from '../../derived/section-file.ts';
import { PagedBytes, pageBytes, pagedSections } from './paged-bytes.ts';

/** A sorted list of texts; a list in a file decodes each text when it is read. */
export interface TextList {
  readonly length: number;
  at(place: number): string | undefined;
}

/** The sections by position. */
const sections = { ends: 0, bytes: 1 } as const;
/** The number of these sections. */
export const packedSections = sections.bytes + pagedSections;

/** Encodes texts as sections. */
export function packTexts(texts: readonly string[]): Uint8Array[] {
  const ends = new Uint32Array(texts.length + 1);
  const bytes = texts.map((text) => Buffer.from(text));
  for (const [place, { length }] of bytes.entries()) {
    ends[place + 1] = (ends[place] ?? 0) + length;
  }
  return [bytesOf(ends), ...pageBytes(Buffer.concat(bytes))];
}

/** Texts in a file. A short process reads few of many, so they are not all decoded. */
export class PackedTexts implements TextList {
  readonly length: number;
  readonly #ends: Uint32Array;
  readonly #bytes: PagedBytes;

  private constructor(ends: Uint32Array, bytes: PagedBytes) {
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
  static read(file: SectionFile, first: number, whole: boolean): PackedTexts | undefined {
    const ends = file.numbers(first + sections.ends);
    const bytes = PagedBytes.read(file, first + sections.bytes, whole);
    return ends && bytes && ends.length > 0 ? new PackedTexts(ends, bytes) : undefined;
  }

  /** @throws Error when the file is not in memory and damaged. */
  at(place: number): string | undefined {
    if (place < 0 || place >= this.length) return undefined;
    return this.#bytes.text(this.#ends[place] ?? 0, this.#ends[place + 1] ?? 0);
  }
}
