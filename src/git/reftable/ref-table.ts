import { crc32, inflateSync } from 'node:zlib';
import { type Files, lookThrough } from '../disk/file-layer.ts';
import { type ObjectFormat, objectFormats, sha1 } from '../objects/object-format.ts';
import { blockType, type ReadFields, TableBlock } from './table-block.ts';
import { logSuffix } from './table-bytes.ts';
import { type LogRecord, type RefRecord, readLog, readPosition, readRef } from './table-records.ts';

/** A table was removed while its stack was read: another process has merged it with others. */
export class TableGoneError extends Error {}

/** Limit of a table that is kept in memory, in bytes; of a larger one, blocks are read when they are needed. */
const maxKept = 256 * 1024;
/** The bytes of a larger table that are read at once. */
const readAhead = 64 * 1024;
/** Limit of the levels of an index. */
const maxLevels = 8;
/** Limit of the logs that one look inflates, in bytes. */
const maxInflated = 64 * 1024 * 1024;

/** The names of the object formats in the header of version 2. */
export const formatIds = { sha1: 'sha1', sha256: 's256' } as const;

/** The first bytes of every table. */
export const tableMark = 'REFT';

/** The length of the header of a table of a version. */
export function headerSize(version: number): number {
  return version === 1 ? 24 : 28;
}

/** Where a kind of records is in a table. */
interface Section {
  readonly type: 'r' | 'g';
  /** Undefined if the table has none of them. */
  readonly first: number | undefined;
  /** The position of its index; 0 for none. */
  readonly index: number;
}

/** A file with refs and lines of reflogs, which never changes. */
export class RefTable {
  readonly path: string;
  readonly size: number;
  /** The numbers of its first and last transaction. */
  readonly first: number;
  readonly last: number;
  readonly format: ObjectFormat;
  readonly #read: (at: number, length: number) => Buffer;
  readonly #blockSize: number;
  readonly #header: number;
  /** The position after its last block. */
  readonly #end: number;
  readonly #refs: Section;
  readonly #logs: Section;

  /** @throws TableGoneError, and RangeError for a damaged table. */
  constructor(files: Files, path: string) {
    const size = lookThrough(files, path)?.size;
    if (size === undefined) throw new TableGoneError();
    [this.path, this.size, this.#read] = [path, size, readerOf(files, path, size)];
    const header = this.#read(0, headerSize(2));
    const version = header[4] ?? 0;
    if (header.toString('latin1', 0, 4) !== tableMark || (version !== 1 && version !== 2)) {
      throw new RangeError('it has no header');
    }
    this.#header = headerSize(version);
    this.#end = size - this.#header - 44;
    const footer = this.#read(this.#end, this.#header + 44);
    if (!footer.subarray(0, this.#header).equals(header.subarray(0, this.#header))) {
      throw new RangeError('its footer belongs to another table');
    }
    if (footer.readUInt32BE(footer.length - 4) !== crc32(footer.subarray(0, -4))) {
      throw new RangeError('its checksum is wrong');
    }
    this.#blockSize = header.readUIntBE(5, 3);
    [this.first, this.last] = [whole(header, 8), whole(header, 16)];
    const id = version === 1 ? formatIds.sha1 : header.toString('latin1', 24, 28);
    const format = [...objectFormats.values()].find(({ name }) => formatIds[name] === id);
    if (!format) throw new RangeError('its object ids are of an unknown kind');
    this.format = version === 1 ? sha1 : format;
    const [refIndex, , , log, logIndex] = [0, 8, 16, 24, 32].map((at) =>
      whole(footer, this.#header + at),
    );
    const type = this.#end > this.#header ? this.#typeAt(this.#header) : undefined;
    this.#refs = { type: 'r', first: type === 'r' ? 0 : undefined, index: refIndex ?? 0 };
    const firstLog = type === 'g' ? 0 : log || undefined;
    this.#logs = { type: 'g', first: firstLog, index: logIndex ?? 0 };
  }

  /** Reads the refs whose keys begin with a prefix, in their order. */
  *refs(prefix: string): Generator<RefRecord> {
    for (const record of this.#records(this.#refs, prefix, readRef(this.format, this.first))) {
      if (!record.key.startsWith(prefix)) return;
      yield record;
    }
  }

  /** The record of a ref; undefined if this table says nothing of it. */
  ref(key: string): RefRecord | undefined {
    const read = readRef(this.format, this.first);
    const { value } = this.#records(this.#refs, key, read).next();
    return value?.key === key ? value : undefined;
  }

  /** Reads the reflog of a ref, the newest line first; without a ref, those of all. */
  *log(ref?: string): Generator<LogRecord> {
    const from = ref === undefined ? '' : ref + logSuffix(Number.MAX_SAFE_INTEGER);
    for (const record of this.#records(this.#logs, from, readLog(this.format))) {
      if (ref !== undefined && record.key.slice(0, -9) !== ref) return;
      yield record;
    }
  }

  *#records<T>(section: Section, from: string, read: ReadFields<T>): Generator<T> {
    let inflated = 0;
    for (let at = this.#seek(section, from); at !== undefined && at < this.#end; ) {
      if (this.#typeAt(at === 0 ? this.#header : at) !== section.type) return;
      const block = this.#block(at);
      yield* block.records(from, read);
      inflated += block.size;
      if (block.next <= at || (section.type === 'g' && inflated > maxInflated)) {
        throw new RangeError('its blocks do not end');
      }
      at = block.next;
    }
  }

  /** The block that can have the first record from a key on; undefined if there is none. */
  #seek({ type, first, index }: Section, from: string): number | undefined {
    if (index === 0 || first === undefined) return first;
    let at = index;
    for (let level = 0; level < maxLevels; level++) {
      const block = this.#block(at);
      if (block.type === type) return at;
      const position = this.#indexed(block, from);
      if (position === undefined) return undefined;
      at = position;
    }
    throw new RangeError('its index has too many levels');
  }

  /** The position for a key in one level of an index, of which this is the first block. */
  #indexed(first: TableBlock, from: string): number | undefined {
    for (let block = first; ; ) {
      if (block.type !== 'i') throw new RangeError('an index leads to another kind of block');
      const { value } = block.records(from, readPosition).next();
      if (value !== undefined) return value;
      if (block.next >= this.#end || this.#typeAt(block.next) !== 'i') return undefined;
      block = this.#block(block.next);
    }
  }

  #typeAt(at: number) {
    return blockType(this.#read(at, 1)[0]);
  }

  /** Reads a block; that at 0 begins with the header of the table. */
  #block(at: number): TableBlock {
    const skipped = (at === 0 ? this.#header : 0) + 4;
    if (at + skipped > this.#end) throw new RangeError('a block is not in the table');
    const head = this.#read(at, skipped);
    const type = blockType(head[skipped - 4]);
    const length = head.readUIntBE(skipped - 3, 3);
    if (type === undefined || length < skipped + 2) throw new RangeError('a block has no header');
    if (type === 'g') {
      // Deflating can make a text a little longer.
      const deflated = this.#read(at + skipped, Math.min(length + 1024, this.#end - at - skipped));
      const { bytes, used } = inflate(deflated, length - skipped);
      return new TableBlock(type, Buffer.concat([head, bytes]), skipped, at + skipped + used);
    }
    if (at + length > this.#end) throw new RangeError('a block is not in the table');
    return new TableBlock(type, this.#read(at, length), skipped, this.#after(at, length));
  }

  /** The position after a block and the bytes that fill it up to the size of blocks. */
  #after(at: number, length: number): number {
    const isFilled = length < this.#blockSize && this.#read(at + length, 1)[0] === 0;
    return at + (isFilled ? this.#blockSize : length);
  }
}

/** Reads parts of a file that never changes; a small one is read once. */
function readerOf(files: Files, path: string, size: number) {
  const read = (at: number, length: number): Buffer => {
    const fd = openTable(files, path);
    try {
      return files.pread(fd, length, at);
    } finally {
      files.close(fd);
    }
  };
  let start = 0;
  let kept = read(0, size <= maxKept ? size : readAhead);
  return (at: number, length: number): Buffer => {
    if (at < 0 || at + length > size) throw new RangeError('it is cut off');
    if (at < start || at + length > start + kept.length) {
      kept = read(at, Math.min(Math.max(length, readAhead), size - at));
      start = at;
      if (kept.length < length) throw new RangeError('it is cut off');
    }
    return kept.subarray(at - start, at - start + length);
  };
}

function openTable(files: Files, path: string): number {
  try {
    return files.open(path, 'r');
  } catch (error) {
    if (lookThrough(files, path) === undefined) throw new TableGoneError();
    throw error;
  }
}

function whole(bytes: Buffer, at: number): number {
  const value = Number(bytes.readBigUInt64BE(at));
  if (!Number.isSafeInteger(value)) throw new RangeError('a number is too large');
  return value;
}

/** Inflates the beginning of some bytes to a known length; returns how many of them were used as well. */
function inflate(bytes: Buffer, length: number): { readonly bytes: Buffer; readonly used: number } {
  let result: unknown;
  try {
    result = inflateSync(bytes, { info: true, maxOutputLength: length });
  } catch (cause) {
    throw new RangeError('a block cannot be inflated', { cause });
  }
  if (typeof result === 'object' && result !== null && 'buffer' in result && 'engine' in result) {
    const { buffer, engine } = result;
    const used = typeof engine === 'object' && engine && 'bytesWritten' in engine;
    if (used && buffer instanceof Buffer && buffer.length === length) {
      return { bytes: buffer, used: Number(engine.bytesWritten) };
    }
  }
  throw new RangeError('a block is not as long as it says');
}
