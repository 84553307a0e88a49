import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { bytesOf, type SectionFile } from './section-file.ts';

/** Total length of the pieces that are compressed together, in bytes. */
const blockLength = 16 * 1024;
/** The numbers of one block: where it begins in all bytes, its offset in the section, its length, its checksum. */
const perBlock = 4;
/** Blocks that stay in memory. */
const maxOpen = 64;

/** Encodes pieces of bytes as two sections: the compressed blocks, and a table of them. */
export class DeflatedBytesWriter {
  readonly #table: number[] = [];
  readonly #blocks: Uint8Array[] = [];
  #offset = 0;
  /** The pieces of the open block, where it begins, and their total length. */
  #open: Uint8Array[] = [];
  #start = 0;
  #length = 0;

  /** Adds a piece, of which a part is read only from one block. */
  add(piece: Uint8Array): void {
    // A long piece is not read for the sake of a short one.
    if (this.#length > 0 && this.#length + piece.length > blockLength) this.#close();
    this.#open.push(piece);
    this.#length += piece.length;
  }

  /** Returns the sections. */
  finish(): Uint8Array[] {
    if (this.#open.length > 0) this.#close();
    return [Buffer.concat(this.#blocks), bytesOf(Uint32Array.from(this.#table))];
  }

  #close(): void {
    const block = deflateRawSync(Buffer.concat(this.#open), { level: 4 });
    this.#table.push(this.#start, this.#offset, block.length, crc32(block));
    this.#blocks.push(block);
    this.#offset += block.length;
    this.#start += this.#length;
    this.#open = [];
    this.#length = 0;
  }
}

/** Compressed bytes in a file, of which only the blocks that are needed are read and checked. */
export class DeflatedBytes {
  readonly #file: SectionFile;
  readonly #section: number;
  readonly #table: Uint32Array;
  readonly #open = new Map<number, Buffer>();

  private constructor(file: SectionFile, section: number, table: Uint32Array) {
    this.#file = file;
    this.#section = section;
    this.#table = table;
  }

  /**
   * Reads what `DeflatedBytesWriter` has made; undefined if it is missing or damaged.
   *
   * @param first the position of its first section.
   */
  static read(file: SectionFile, first: number): DeflatedBytes | undefined {
    const table = file.numbers(first + 1);
    if (!table || table.length % perBlock !== 0) return undefined;
    return new DeflatedBytes(file, first, table);
  }

  /**
   * Returns a range of bytes that are text, which is in one of the pieces.
   *
   * @throws Error when it is damaged or missing.
   */
  text(from: number, to: number): string {
    const block = this.#blockOf(from);
    const start = this.#table[perBlock * block] ?? 0;
    return this.#bytesOf(block).toString('utf8', from - start, to - start);
  }

  #blockOf(at: number): number {
    let low = 0;
    let high = this.#table.length / perBlock;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if ((this.#table[perBlock * middle] ?? 0) <= at) low = middle;
      else high = middle;
    }
    return low;
  }

  #bytesOf(block: number): Buffer {
    const known = this.#open.get(block);
    if (known) return known;
    const [, offset = 0, length = 0, sum] = this.#table.subarray(perBlock * block);
    const bytes = this.#file.part(this.#section, offset, offset + length);
    if (!bytes || length === 0 || crc32(bytes) !== sum) throw new Error('A block is damaged.');
    const read = inflateRawSync(bytes);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= maxOpen && oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(block, read);
    return read;
  }
}
