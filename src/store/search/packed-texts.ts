import { bytesOf, type SectionFile } from '../records/section-file.ts';
import { PagedBytes, pageBytes, pagedSections } from './paged-bytes.ts';

/** A sorted list of texts; a list in a file decodes each text when it is read. */
export interface TextList {
  readonly length: number;
  at(place: number): string | undefined;
}

/** The sections by position. */
const sections = { ends: 0, shared: 1, bytes: 2 } as const;
/** The number of these sections. */
export const packedSections = sections.bytes + pagedSections;
/** Texts of at most this many bytes are read and checked at once. */
const readAtOnce = 256 * 1024;
/** The most letters that are stored as shared with the text before. */
const mostShared = 255;

/** Encodes texts as sections. */
export function packTexts(texts: readonly string[]): Uint8Array[] {
  const ends = new Uint32Array(texts.length + 1);
  const shared = new Uint8Array(texts.length);
  const bytes = texts.map((text) => Buffer.from(text));
  for (const [place, { length }] of bytes.entries()) {
    ends[place + 1] = (ends[place] ?? 0) + length;
    shared[place] = sharedLetters(texts[place - 1] ?? '', texts[place] ?? '');
  }
  return [bytesOf(ends), shared, ...pageBytes(Buffer.concat(bytes))];
}

function sharedLetters(one: string, other: string): number {
  const most = Math.min(one.length, other.length, mostShared);
  let count = 0;
  while (count < most && one.charCodeAt(count) === other.charCodeAt(count)) count += 1;
  return count;
}

/** Texts in a file. A short process reads few of many, so they are not all decoded. */
export class PackedTexts implements TextList {
  readonly length: number;
  readonly #ends: Uint32Array;
  readonly #bytes: PagedBytes;
  /** All bytes, if they are few. */
  readonly #all: Buffer | undefined;
  readonly #shared: Uint8Array;

  private constructor(ends: Uint32Array, bytes: PagedBytes, shared: Uint8Array) {
    this.length = shared.length;
    this.#ends = ends;
    this.#bytes = bytes;
    const all = bytes.all(readAtOnce);
    this.#all = all && Buffer.from(all.buffer, all.byteOffset, all.length);
    this.#shared = shared;
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
    const shared = file.section(first + sections.shared);
    if (!ends || !bytes || ends.length !== (shared?.length ?? -1) + 1) return undefined;
    return shared && new PackedTexts(ends, bytes, shared);
  }

  at(place: number): string | undefined {
    if (place < 0 || place >= this.length) return undefined;
    const [from = 0, to = 0] = [this.#ends[place], this.#ends[place + 1]];
    if (this.#all) return this.#all.toString('utf8', from, to);
    const bytes = this.#bytes.range(from, to);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  }

  /** The first text from a place on that has fewer letters in common with the one before. */
  unlike(from: number, letters: number): number {
    let place = from;
    while (place < this.length && (this.#shared[place] as number) >= letters) place += 1;
    return place;
  }

  /** The number of letters that a text has in common with the one before, from the beginning. */
  shared(place: number): number {
    return this.#shared[place] ?? 0;
  }
}
