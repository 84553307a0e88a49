/** Longest key of a record: a ref name, in a log with nine bytes more. */
const maxKey = 16 * 1024;

/** Reads the fields of a table one after the other; a `RangeError` shows that they are damaged. */
export class TableBytes {
  readonly bytes: Buffer;
  at: number;
  readonly #end: number;

  constructor(bytes: Buffer, at: number, end = bytes.length) {
    [this.bytes, this.at, this.#end] = [bytes, at, end];
  }

  get isOver(): boolean {
    return this.at >= this.#end;
  }

  /** A number of variable length, as in offsets of packs. */
  varint(): number {
    let byte = this.#byte();
    let value = byte & 0x7f;
    while (byte & 0x80) {
      byte = this.#byte();
      value = (value + 1) * 128 + (byte & 0x7f);
      if (!Number.isSafeInteger(value)) throw new RangeError('a number is too large');
    }
    return value;
  }

  /** A signed number of two bytes. */
  int16(): number {
    return this.take(2).readInt16BE();
  }

  take(length: number): Buffer {
    const end = this.at + length;
    if (end > this.#end) throw new RangeError('a record does not end');
    const taken = this.bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }

  /** Bytes with their length before them. */
  sized(): Buffer {
    return this.take(this.varint());
  }

  /** The key of a record, which shares its beginning with the one before, and the type of its value. */
  key(before: string): { readonly key: string; readonly type: number } {
    const shared = this.varint();
    const size = this.varint();
    if (shared > before.length) throw new RangeError('a key has no beginning');
    const length = Math.floor(size / 8);
    if (shared + length > maxKey) throw new RangeError('a key is too long');
    return { key: before.slice(0, shared) + text(this.take(length)), type: size % 8 };
  }

  #byte(): number {
    if (this.isOver) throw new RangeError('a number does not end');
    return this.bytes[this.at++] ?? 0;
  }
}

/** The bytes of a key as a text, which sorts like them. */
export function text(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** The key of a name. */
export function keyOf(name: string): string {
  return text(Buffer.from(name, 'utf8'));
}

/** The name of a key. */
export function nameOf(key: string): string {
  return Buffer.from(key, 'latin1').toString('utf8');
}

/** The end of the key of a log record: newer records come first. */
export function logSuffix(index: number): string {
  const bytes = Buffer.alloc(9);
  bytes.writeBigUInt64BE(0xffff_ffff_ffff_ffffn - BigInt(index), 1);
  return text(bytes);
}
