import { isAscii } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { checksum } from '../../core/values/checksum.ts';

/** Identifies the format, in the byte order of the machine. */
const magic = 0x314d_4249;
/** The numbers of the header before its table: magic, mark, number of sections, checksum. */
const fixed = 8;
/** The numbers of one section in the table: offset, length, checksum. */
const perSection = 3;
const maxSections = 64;
/** Bytes that the header and its table have at most. */
const maxHeader = 4 * (fixed + perSection * maxSections);
/** Sections begin at a multiple of this, so that numbers of 64 bits can be read in place. */
const alignment = 8;

/** The bytes of a file, which are read where they are needed. */
export interface SectionBytes {
  readonly length: number;
  /** Reads a range, which is within the length. */
  read(offset: number, length: number): Uint8Array;
}

/**
 * The sections of a derived file: bytes that are used without copying once their checksum is right.
 *
 * The content is trusted only if the mark is that of the reader, so a file of another version is
 * never interpreted.
 */
export class SectionFile {
  readonly #bytes: SectionBytes;
  readonly #table: Uint32Array;
  readonly #checked = new Map<number, Uint8Array>();

  private constructor(bytes: SectionBytes, table: Uint32Array) {
    this.#bytes = bytes;
    this.#table = table;
  }

  /** Reads the header; undefined if it is damaged or has another mark. */
  static open(given: Uint8Array | SectionBytes, mark: string): SectionFile | undefined {
    const file = 'read' in given ? given : inMemory(given);
    const bytes = aligned(file.read(0, Math.min(file.length, maxHeader)));
    if (bytes.length < 4 * fixed) return undefined;
    const start = new Uint32Array(bytes.buffer, bytes.byteOffset, fixed);
    const count = start[6] ?? 0;
    const length = 4 * (fixed + perSection * count);
    if (start[0] !== magic || count > maxSections || bytes.length < length) return undefined;
    const expected = headerOf(mark, count);
    if (expected.some((value, at) => at < 7 && value !== start[at])) return undefined;
    const table = new Uint32Array(bytes.buffer, bytes.byteOffset + 4 * fixed, perSection * count);
    if (crc32(bytes.subarray(4 * fixed, length)) !== start[7]) return undefined;
    return new SectionFile(file, table);
  }

  /** Returns the same file with all of its bytes in memory. */
  inMemory(): SectionFile {
    const bytes = this.#bytes.read(0, this.#bytes.length);
    return new SectionFile(inMemory(bytes), this.#table);
  }

  /** Identifies the content: it contains the checksum of each section. */
  get id(): string {
    return idOf(this.#table);
  }

  /** The bytes of a section; undefined if they are damaged or missing. */
  section(index: number): Uint8Array | undefined {
    const known = this.#checked.get(index);
    if (known) return known;
    const sum = this.#table[perSection * index + 2];
    const bytes = this.part(index);
    if (!bytes) return undefined;
    if (crc32(bytes) !== sum) return undefined;
    this.#checked.set(index, bytes);
    return bytes;
  }

  /** Bytes of a section, which may be damaged; undefined if they are missing. */
  part(index: number, from = 0, end?: number): Uint8Array | undefined {
    const [offset, length] = this.#table.subarray(perSection * index);
    const to = end ?? length ?? 0;
    if (offset === undefined || length === undefined || offset % alignment !== 0) return undefined;
    if (from > to || to > length || offset + to > this.#bytes.length) return undefined;
    return this.#bytes.read(offset + from, to - from);
  }

  /** The length of a section, damaged or not; 0 for a missing one. */
  lengthOf(index: number): number {
    return this.#table[perSection * index + 1] ?? 0;
  }

  /** Whether no section is damaged. */
  get isWhole(): boolean {
    for (let index = 0; this.has(index); index++) if (!this.section(index)) return false;
    return true;
  }

  /** Whether the file has a section, damaged or not. */
  has(index: number): boolean {
    return perSection * index < this.#table.length;
  }

  /** A section of JSON; undefined if it is damaged. */
  json(index: number): unknown {
    const bytes = this.section(index);
    if (!bytes) return undefined;
    try {
      return JSON.parse(decode(bytes));
    } catch {
      return undefined;
    }
  }

  /** A section of any count of numbers of 32 bits; undefined if it is damaged. */
  numbers(index: number): Uint32Array | undefined {
    const bytes = this.section(index);
    return bytes && this.integers(index, bytes.length / 4);
  }

  /** A section of numbers of 32 bits; undefined if it is damaged or does not have this many. */
  integers(index: number, count: number): Uint32Array | undefined {
    const bytes = this.section(index);
    if (bytes?.length !== 4 * count) return undefined;
    return new Uint32Array(bytes.buffer, bytes.byteOffset, count);
  }

  /** A section of numbers of 64 bits; undefined if it is damaged or does not have this many. */
  floats(index: number, count: number): Float64Array | undefined {
    const bytes = this.section(index);
    if (bytes?.length !== 8 * count) return undefined;
    return new Float64Array(bytes.buffer, bytes.byteOffset, count);
  }
}

function decode({ buffer, byteOffset, length }: Uint8Array): string {
  const text = Buffer.from(buffer, byteOffset, length);
  // Most text is ASCII, for which this is faster.
  return text.toString(isAscii(text) ? 'latin1' : 'utf8');
}

/** Returns the pieces of a file with these sections. */
export function sectionFile(mark: string, sections: readonly Uint8Array[]): Uint8Array[] {
  return identifiedFile(mark, sections).pieces;
}

/** Returns the pieces of a file with these sections, and what `SectionFile.id` will be. */
export function identifiedFile(
  mark: string,
  sections: readonly Uint8Array[],
): { readonly pieces: Uint8Array[]; readonly id: string } {
  const header = headerOf(mark, sections.length);
  const table = new Uint32Array(perSection * sections.length);
  const pieces: Uint8Array[] = [bytesOf(header), bytesOf(table)];
  let offset = 4 * (header.length + table.length);
  for (const [index, section] of sections.entries()) {
    const gap = (alignment - (offset % alignment)) % alignment;
    if (gap > 0) pieces.push(new Uint8Array(gap));
    offset += gap;
    table.set([offset, section.length, crc32(section)], perSection * index);
    pieces.push(section);
    offset += section.length;
  }
  header[7] = crc32(bytesOf(table));
  return { pieces, id: idOf(table) };
}

function idOf({ buffer, byteOffset, length }: Uint32Array): string {
  return checksum(new Int32Array(buffer, byteOffset, length));
}

function inMemory(given: Uint8Array): SectionBytes {
  const bytes = aligned(given);
  return {
    length: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
}

/** Copies bytes that do not begin at a multiple of the alignment. */
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % alignment === 0 ? bytes : new Uint8Array(bytes);
}

/** The bytes of a list of numbers. */
export function bytesOf({ buffer, byteOffset, byteLength }: NodeJS.TypedArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns the bytes of a value as JSON. */
export function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Whether a value is a list of texts in ascending order. */
export function isSorted(value: unknown): value is readonly string[] {
  if (!Array.isArray(value)) return false;
  return value.every((text, at) => typeof text === 'string' && (at === 0 || value[at - 1] < text));
}

/** The header without its checksum. */
function headerOf(mark: string, count: number): Uint32Array {
  const hash = Buffer.from(checksum(mark).padEnd(20));
  const header = new Uint32Array(fixed);
  header[0] = magic;
  for (let i = 0; i < 5; i++) header[i + 1] = hash.readUInt32LE(4 * i);
  header[6] = count;
  return header;
}
