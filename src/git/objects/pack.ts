import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import type { ObjectType, Oid, RawObject } from './object.ts';
import { ObjectCache } from './object-cache.ts';
import type { ObjectFormat } from './object-format.ts';

/** An object's entry in a pack: whole, or a delta against another object. */
type Piece =
  | { readonly type: ObjectType; readonly content: Buffer }
  | { readonly delta: Buffer; readonly base: number | Oid };

/** The header of an object in a pack. */
interface Head {
  /** The bytes that were read; the compressed data begins at `at`. */
  readonly head: Buffer;
  readonly at: number;
  /** Size of the unpacked data, in bytes. */
  readonly size: number;
  readonly kind: { readonly type: ObjectType } | { readonly base: number | Oid };
}

const types: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag'];

/** Size limit of an object, in bytes; trees, commits and records are smaller. */
export const maxObjectSize = 256 * 1024 * 1024;
/** Offset of the object names in an index, after its header and fan-out table. */
const namesAt = 8 + 1024;
/** The longest delta chain that git writes; a longer one is a cycle. */
const maxChain = 4096;
/** Number of objects up to which the ids of a pack are cached. */
const maxKeptIds = 500_000;
/** Cache limit: bytes of delta bases kept in memory. */
const maxKeptBases = 4 * 1024 * 1024;
/** Bytes read at once; most trees, commits and records fit. */
const firstRead = 2048;

/**
 * One pack with its index (gitformat-pack, index version 2). A look-up reads only the parts that it
 * needs, so a large pack costs little memory and time.
 */
export class Pack {
  readonly #files: Files;
  readonly #index: number;
  readonly #pack: number;
  readonly #packSize: number;
  readonly #fanout: Buffer;
  readonly #count: number;
  readonly #format: ObjectFormat;
  /** The ids that begin with each byte, as in the index. */
  readonly #ids = new Map<number, Buffer>();
  /** By offset. A walk of the history follows the deltas, so the last ones are needed next. */
  readonly #bases = new ObjectCache<number>(maxKeptBases, maxKeptBases / 16);

  private constructor(files: Files, index: number, pack: number, format: ObjectFormat) {
    this.#format = format;
    this.#files = files;
    this.#index = index;
    this.#pack = pack;
    this.#packSize = files.fstat(pack).size;
    const head = files.pread(index, namesAt, 0);
    if (head.length < namesAt) throw damaged('an index of a pack ends early');
    if (head.readUInt32BE(0) !== 0xff744f63 || head.readUInt32BE(4) !== 2) {
      throw damaged('an index of a pack is of a version that is not known');
    }
    this.#fanout = head.subarray(8);
    this.#count = this.#fanout.readUInt32BE(255 * 4);
    if (files.fstat(index).size < namesAt + this.#count * (format.size + 8)) {
      throw damaged('an index of a pack ends early');
    }
  }

  /** @param path the pack's path without its extension. */
  static open(files: Files, folder: string, name: string, format: ObjectFormat): Pack {
    const index = files.open(join(folder, `${name}.idx`), 'r');
    try {
      const pack = files.open(join(folder, `${name}.pack`), 'r');
      try {
        return new Pack(files, index, pack, format);
      } catch (error) {
        files.close(pack);
        throw error;
      }
    } catch (error) {
      files.close(index);
      throw error;
    }
  }

  close(): void {
    this.#files.close(this.#index);
    this.#files.close(this.#pack);
  }

  /** The object's offset in the pack; undefined if it is not in this pack. */
  offsetOf(oid: Oid): number | undefined {
    const { size } = this.#format;
    const wanted = Buffer.from(oid, 'hex');
    const first = wanted[0] ?? 0;
    const start = first === 0 ? 0 : this.#fanout.readUInt32BE((first - 1) * 4);
    const end = Math.min(this.#fanout.readUInt32BE(first * 4), this.#count);
    const ids = this.#count <= maxKeptIds ? this.#idsOf(first, start, end) : undefined;
    for (let low = start, high = end; low < high; ) {
      const middle = (low + high) >>> 1;
      const order = ids
        ? ids.compare(wanted, 0, size, (middle - start) * size, (middle - start + 1) * size)
        : Buffer.compare(this.#oidAt(middle), wanted);
      if (order === 0) return this.#offset(middle);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  /** Ids in this pack with this hexadecimal prefix, at most `limit`. */
  startingWith(prefix: string, limit: number): Oid[] {
    const lowest = Buffer.from(prefix.padEnd(this.#format.digits, '0'), 'hex');
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.#oidAt(middle), lowest) < 0) low = middle + 1;
      else high = middle;
    }
    const found: Oid[] = [];
    for (let i = low; i < this.#count && found.length < limit; i++) {
      const oid = this.#oidAt(i).toString('hex');
      if (!oid.startsWith(prefix)) break;
      found.push(oid);
    }
    return found;
  }

  /** @param resolve reads a delta base that is in another pack or loose. */
  read(offset: number, resolve: (oid: Oid) => RawObject): RawObject {
    const chain: { readonly offset: number; readonly delta: Buffer }[] = [];
    let object: RawObject | undefined;
    for (let at = offset; !object; ) {
      const piece = this.#bases.get(at) ?? this.#piece(at);
      if ('content' in piece) object = this.#bases.keep(at, piece);
      else {
        if (chain.length === maxChain) {
          throw damaged('a chain of differences in a pack has no end');
        }
        chain.push({ offset: at, delta: piece.delta });
        const near = typeof piece.base === 'string' ? this.offsetOf(piece.base) : piece.base;
        if (near === undefined) object = resolve(String(piece.base));
        else at = near;
      }
    }
    // Cache all of them: the next object is as likely to be on this chain as after it.
    for (const { offset, delta } of chain.reverse()) {
      const content = applyDelta(object.content, delta);
      object = this.#bases.keep(offset, { type: object.type, content });
    }
    return object;
  }

  #idsOf(first: number, start: number, end: number): Buffer {
    const known = this.#ids.get(first);
    if (known) return known;
    const { size } = this.#format;
    const ids = this.#files.pread(this.#index, (end - start) * size, namesAt + start * size);
    this.#ids.set(first, ids);
    return ids;
  }

  #oidAt(i: number): Buffer {
    const { size } = this.#format;
    return this.#files.pread(this.#index, size, namesAt + i * size);
  }

  #offset(i: number): number {
    const table = namesAt + this.#count * (this.#format.size + 4);
    const short = this.#files.pread(this.#index, 4, table + i * 4).readUInt32BE(0);
    if (short < 0x8000_0000) return short;
    const long = table + this.#count * 4 + (short - 0x8000_0000) * 8;
    const bytes = this.#files.pread(this.#index, 8, long);
    if (bytes.length < 8) throw damaged('an index of a pack ends early');
    return Number(bytes.readBigUInt64BE(0));
  }

  /** The size of an object, from its first bytes. */
  sizeAt(offset: number): number {
    const { head, at, size, kind } = this.#head(offset);
    if ('type' in kind) return size;
    const delta = new Reader(inflateStart(head.subarray(at)));
    delta.size();
    return delta.size();
  }

  #piece(offset: number): Piece {
    const { head, at, size, kind } = this.#head(offset);
    if (size > maxObjectSize) throw damaged('an object in a pack is too large to read');
    const content = this.#inflate(head, offset, at, size);
    return 'type' in kind ? { type: kind.type, content } : { delta: content, base: kind.base };
  }

  #head(offset: number): Head {
    const head = this.#files.pread(this.#pack, firstRead, offset);
    const bytes = new Reader(head);
    let byte = bytes.next();
    const kind = (byte >> 4) & 7;
    let size = byte & 15;
    for (let shift = 4; byte & 0x80; shift += 7) {
      byte = bytes.next();
      size += (byte & 0x7f) * 2 ** shift;
    }
    if (kind === 6) {
      byte = bytes.next();
      let back = byte & 0x7f;
      while (byte & 0x80) {
        byte = bytes.next();
        back = (back + 1) * 128 + (byte & 0x7f);
      }
      if (back > offset) throw damaged('a difference in a pack has no base');
      return { head, at: bytes.at, size, kind: { base: offset - back } };
    }
    if (kind === 7) {
      const end = bytes.at + this.#format.size;
      const base = head.toString('hex', bytes.at, end);
      return { head, at: end, size, kind: { base } };
    }
    const type = types[kind];
    if (!type) throw damaged('a pack holds an object of an unknown kind');
    return { head, at: bytes.at, size, kind: { type } };
  }

  /** @param head bytes read at the offset, which include the start of the compressed data. */
  #inflate(head: Buffer, offset: number, at: number, size: number): Buffer {
    // zlib's own bound for stored data: the compressed form is never longer than this.
    const bound = size + (size >> 12) + (size >> 14) + (size >> 25) + 64;
    const length = Math.max(0, Math.min(bound, this.#packSize - offset - at));
    const deflated =
      at + length <= head.length
        ? head.subarray(at)
        : this.#files.pread(this.#pack, length, offset + at);
    let content: Buffer | undefined;
    try {
      content = inflateSync(deflated, {
        maxOutputLength: Math.max(size, 1),
        chunkSize: Math.min(Math.max(size, 64), 64 * 1024),
      });
    } catch {
      // The message below covers every kind of damage.
    }
    if (content?.length !== size) throw damaged('an object in a pack cannot be unpacked');
    return content;
  }
}

/** Applies a delta, a list of copies and insertions, to its base (gitformat-pack, deltified). */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const bytes = new Reader(delta);
  if (bytes.size() !== base.length) throw damaged('a difference in a pack does not fit its base');
  const size = bytes.size();
  if (size > maxObjectSize) throw damaged('an object in a pack is too large to read');
  const result = Buffer.allocUnsafe(size);
  let filled = 0;
  const add = (from: Buffer, offset: number, length: number) => {
    if (length === 0 || offset + length > from.length || filled + length > size) {
      throw damaged('a difference in a pack cannot be applied');
    }
    from.copy(result, filled, offset, offset + length);
    filled += length;
  };
  while (bytes.at < delta.length) {
    const command = bytes.next();
    if (command & 0x80) {
      let offset = 0;
      let length = 0;
      for (let i = 0; i < 4; i++) if (command & (1 << i)) offset += bytes.next() * 2 ** (8 * i);
      for (let i = 0; i < 3; i++) if (command & (16 << i)) length += bytes.next() << (8 * i);
      add(base, offset, length === 0 ? 0x10000 : length);
    } else {
      add(delta, bytes.at, command);
      bytes.at += command;
    }
  }
  if (filled !== size) throw damaged('a difference in a pack cannot be applied');
  return result;
}

/** Reads byte by byte and never past the end. */
class Reader {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  next(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw damaged('an object in a pack ends early');
    return byte;
  }

  /** Reads a size in the header of a delta. */
  size(): number {
    let value = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.next();
      value += (byte & 0x7f) * 2 ** shift;
      if (!(byte & 0x80)) return value;
    }
    throw damaged('an object in a pack is too large to read');
  }
}

/** Z_SYNC_FLUSH of zlib: the end of the input is not that of the data. */
const syncFlush = 2;

/** Unpacks the first compressed bytes; empty if they are damaged. */
export function inflateStart(deflated: Buffer): Buffer {
  try {
    return inflateSync(deflated, { finishFlush: syncFlush });
  } catch {
    return Buffer.alloc(0);
  }
}

function damaged(what: string): MemoryError {
  return new MemoryError('damaged', `This repository is damaged: ${what}.`, {
    hint: 'Run "git fsck" to list all damage.',
  });
}
