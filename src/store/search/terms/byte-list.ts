/** A growing list of bytes with numbers of variable length. */
export class ByteList {
  #bytes: Uint8Array;
  length = 0;

  /** @param capacity the number of bytes that it has room for at first. */
  constructor(capacity = 64 * 1024) {
    this.#bytes = new Uint8Array(Math.max(16, capacity));
  }

  /** Appends a number below 2^32, in groups of seven bits. */
  add(value: number): void {
    if (this.length + 5 > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#bytes.length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#bytes[this.length++] = rest;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

/** Reads the numbers of a `ByteList`; beyond its end every number is 0. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = Math.min(end, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  next(): number {
    const first = this.#at < this.#end ? (this.#bytes[this.#at] as number) : 0;
    if (first < 128) {
      // As most are.
      this.#at += 1;
      return first;
    }
    let value = 0;
    for (let shift = 0; shift < 35 && this.#at < this.#end; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return value >>> 0;
  }
}
