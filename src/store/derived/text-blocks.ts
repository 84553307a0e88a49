import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { bytesOf, type SectionFile } from './section-file.ts';

/** Total length of the texts that are compressed together, in bytes. */
const blockLength = 16 * 1024;
/** The numbers of one block: its first text, its offset, its length, its checksum. */
const perBlock = 4;
/** Blocks that stay in memory. */
const maxOpen = 64;

/** The sections by position. */
const sections = { blocks: 0, ends: 1, bytes: 2 } as const;
/** The number of these sections. */
export const textSections = 3;

/** Encodes a list of texts, neighbours together: they are often alike, and read one after the other. */
export class TextBlocksWriter {
  readonly #blocks: number[] = [];
  /** The end of each text in its block. */
  readonly #ends: number[] = [];
  readonly #bytes: Uint8Array[] = [];
  #offset = 0;
  #open: Buffer[] = [];
  #length = 0;

  /** Adds a text, and returns its number. */
  add(text: string): number {
    const bytes = Buffer.from(text);
    // A long text is not read for the sake of a short one.
    if (this.#length > 0 && this.#length + bytes.length > blockLength) this.#close();
    this.#open.push(bytes);
    this.#length += bytes.length;
    this.#ends.push(this.#length);
    return this.#ends.length - 1;
  }

  /** Returns the sections. */
  finish(): Uint8Array[] {
    if (this.#open.length > 0) this.#close();
    return [
      bytesOf(Uint32Array.from(this.#blocks)),
      bytesOf(Uint32Array.from(this.#ends)),
      Buffer.concat(this.#bytes),
    ];
  }

  #close(): void {
    const block = deflateRawSync(Buffer.concat(this.#open), { level: 4 });
    const first = this.#ends.length - this.#open.length;
    this.#blocks.push(first, this.#offset, block.length, crc32(block));
    this.#bytes.push(block);
    this.#offset += block.length;
    this.#open = [];
    this.#length = 0;
  }
}

/** A list of texts in a file, of which only the blocks that are needed are read and checked. */
export class TextBlocks {
  readonly #file: SectionFile;
  readonly #section: number;
  readonly #blocks: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #open = new Map<number, Buffer>();

  private constructor(file: SectionFile, section: number, blocks: Uint32Array, ends: Uint32Array) {
    this.#file = file;
    this.#section = section;
    this.#blocks = blocks;
    this.#ends = ends;
  }

  /**
   * Reads what `TextBlocksWriter` has made; undefined if it is missing or damaged.
   *
   * @param first the position of its first section.
   */
  static read(file: SectionFile, first: number): TextBlocks | undefined {
    const blocks = file.numbers(first + sections.blocks);
    const ends = file.numbers(first + sections.ends);
    if (!blocks || !ends || blocks.length % perBlock !== 0) return undefined;
    return new TextBlocks(file, first + sections.bytes, blocks, ends);
  }

  get length(): number {
    return this.#ends.length;
  }

  /** @throws Error when the text is damaged or missing. */
  at(number: number): string {
    const block = this.#blockOf(number);
    const first = this.#blocks[perBlock * block] ?? 0;
    const start = number === first ? 0 : this.#ends[number - 1];
    return this.#bytesOf(block).toString('utf8', start, this.#ends[number]);
  }

  #blockOf(number: number): number {
    let low = 0;
    let high = this.#blocks.length / perBlock;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if ((this.#blocks[perBlock * middle] ?? 0) <= number) low = middle;
      else high = middle;
    }
    return low;
  }

  #bytesOf(block: number): Buffer {
    const known = this.#open.get(block);
    if (known) return known;
    const [, offset = 0, length = 0, sum] = this.#blocks.subarray(perBlock * block);
    const bytes = this.#file.part(this.#section, offset, offset + length);
    if (!bytes || length === 0 || crc32(bytes) !== sum) throw new Error('A text is damaged.');
    const read = inflateRawSync(bytes);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= maxOpen && oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(block, read);
    return read;
  }
}
