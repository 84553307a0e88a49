/** The bytes of one packed vector. */
export const vectorBytes = 40;
/** Bytes of the first block. */
const firstBytes = 100 * vectorBytes;

/**
 * The packed vectors of documents, in one block that is read from end to end.
 *
 * They are made from a document alone, and go with it.
 */
export class DocumentVectors {
  #bytes: Uint8Array<ArrayBuffer>;
  #floats: Float32Array;
  #integers: Uint32Array;
  /** The number of vectors in the block, used or not. */
  #rows = 0;
  /** The first vector of each document, and how many it has; -1 where they are not known. */
  #first: number[] = [];
  #count: number[] = [];

  constructor() {
    this.#bytes = new Uint8Array(firstBytes);
    this.#floats = new Float32Array(this.#bytes.buffer);
    this.#integers = new Uint32Array(this.#bytes.buffer);
  }

  /** The block as whole numbers of 32 bits, and as others. */
  get integers(): Uint32Array {
    return this.#integers;
  }

  get floats(): Float32Array {
    return this.#floats;
  }

  /** The first vector of a document. */
  firstOf(number: number): number {
    return this.#first[number] ?? 0;
  }

  /** How many vectors a document has; -1 if that is not known. */
  countOf(number: number): number {
    return this.#count[number] ?? -1;
  }

  /** The vectors of a document; undefined if they are not known. */
  of(number: number): Uint8Array | undefined {
    const count = this.countOf(number);
    if (count < 0) return undefined;
    const start = this.firstOf(number) * vectorBytes;
    return this.#bytes.subarray(start, start + count * vectorBytes);
  }

  set(number: number, rows: Uint8Array): void {
    const count = rows.length / vectorBytes;
    this.#makeRoom(rows.length);
    this.#bytes.set(rows, this.#rows * vectorBytes);
    this.#first[number] = this.#rows;
    this.#count[number] = count;
    this.#rows += count;
  }

  /**
   * Adds the vectors of many documents at once.
   *
   * @param starts the first vector of each document; after the last one, how many there are.
   * @param isWanted says whether those of a document are used.
   */
  addAll(starts: Uint32Array, packed: Uint8Array, isWanted: (number: number) => boolean): void {
    this.#makeRoom(packed.length);
    this.#bytes.set(packed, this.#rows * vectorBytes);
    for (let number = 0; number < starts.length - 1; number++) {
      if (!isWanted(number)) continue;
      this.#first[number] = this.#rows + (starts[number] as number);
      this.#count[number] = (starts[number + 1] as number) - (starts[number] as number);
    }
    this.#rows += packed.length / vectorBytes;
  }

  delete(number: number): void {
    if (number < this.#count.length) this.#count[number] = -1;
  }

  /** Makes room for more bytes; those of documents that are gone are left behind. */
  #makeRoom(length: number): void {
    const used = this.#rows * vectorBytes;
    if (used + length <= this.#bytes.length) return;
    const [first, count] = [this.#first, this.#count];
    const old = this.#bytes;
    const live = count.reduce((sum, one) => sum + Math.max(0, one), 0) * vectorBytes;
    const size = Math.ceil((1.5 * (live + length) + firstBytes) / 8) * 8;
    this.#bytes = new Uint8Array(size);
    this.#floats = new Float32Array(this.#bytes.buffer);
    this.#integers = new Uint32Array(this.#bytes.buffer);
    let next = 0;
    for (const [number, rows] of count.entries()) {
      if (rows === undefined || rows < 0) continue;
      const start = (first[number] ?? 0) * vectorBytes;
      this.#bytes.set(old.subarray(start, start + rows * vectorBytes), next * vectorBytes);
      first[number] = next;
      next += rows;
    }
    this.#rows = next;
  }
}
