import { bytesOf, type SectionFile } from '../../derived/section-file.ts';
import { packTexts, textSections } from '../../derived/text-list.ts';

/** The sections by position. */
const sections = { ends: 0, bytes: 1, slots: textSections } as const;
/** The number of these sections. */
export const placeSections = textSections + 1;
/** At most this share of the slots has a word, so that few words are looked at for each one asked for. */
const fullest = 0.6;
const firstForeign = 0x80;

/**
 * The places of words in a file, by their hash.
 *
 * A short process looks up thousands of words: a binary search that decodes them takes ten times as long.
 */
export class WordPlaces {
  readonly length: number;
  readonly #ends: Uint32Array;
  readonly #bytes: Uint8Array;
  /** One more than the place of a word, in the first free slot from that of its hash on; 0 where there is none. */
  readonly #slots: Uint16Array;

  private constructor(ends: Uint32Array, bytes: Uint8Array, slots: Uint16Array) {
    this.length = ends.length - 1;
    this.#ends = ends;
    this.#bytes = bytes;
    this.#slots = slots;
  }

  /**
   * Reads what `packPlaces` has made; undefined if it is missing or damaged.
   *
   * @param first the position of its first section.
   */
  static read(file: SectionFile, first: number): WordPlaces | undefined {
    const ends = file.numbers(first + sections.ends);
    const bytes = file.section(first + sections.bytes);
    const packed = file.section(first + sections.slots);
    if (!ends || !bytes || !packed || ends.length === 0) return undefined;
    const { buffer, byteOffset, length } = packed;
    const slots = new Uint16Array(buffer, byteOffset, length / 2);
    return isPower(slots.length) ? new WordPlaces(ends, bytes, slots) : undefined;
  }

  /** The word at a place. */
  at(place: number): string {
    const [from = 0, to = 0] = this.#ends.subarray(place, place + 2);
    return Buffer.from(this.#bytes.subarray(from, to)).toString('utf8');
  }

  /** The place of a word; -1 for one that is not there. */
  placeOf(word: string): number {
    const slots = this.#slots;
    const last = slots.length - 1;
    for (let probe = 0, slot = hashOf(word) & last; probe <= last; probe++) {
      const found = slots[slot] as number;
      if (found === 0) return -1;
      if (this.#isAt(found - 1, word)) return found - 1;
      slot = (slot + 1) & last;
    }
    return -1;
  }

  #isAt(place: number, word: string): boolean {
    const from = this.#ends[place] as number;
    const length = (this.#ends[place + 1] as number) - from;
    if (length < word.length) return false;
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      if (code >= firstForeign) return this.at(place) === word;
      if (this.#bytes[from + at] !== code) return false;
    }
    return length === word.length;
  }
}

/** Encodes words as sections. */
export function packPlaces(words: readonly string[]): Uint8Array[] {
  let size = 1;
  while (words.length > fullest * size) size *= 2;
  const slots = new Uint16Array(size);
  for (const [place, word] of words.entries()) {
    let slot = hashOf(word) & (size - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (size - 1);
    slots[slot] = place + 1;
  }
  return [...packTexts(words), bytesOf(slots)];
}

function hashOf(word: string): number {
  let hash = word.length;
  for (let at = 0; at < word.length; at++)
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x9e37_79b1);
  return hash ^ (hash >>> 15);
}

function isPower(size: number): boolean {
  return size > 0 && (size & (size - 1)) === 0;
}
