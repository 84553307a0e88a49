import { TableBytes } from './table-bytes.ts';

/** The kinds of blocks: refs, indexes of blocks, refs of objects, logs. */
export type BlockType = 'r' | 'i' | 'o' | 'g';

const types: ReadonlySet<string> = new Set(['r', 'i', 'o', 'g']);

/** The kind of a block by its first byte; undefined for any other byte. */
export function blockType(byte: number | undefined): BlockType | undefined {
  const type = String.fromCharCode(byte ?? 0);
  return isBlockType(type) ? type : undefined;
}

function isBlockType(type: string): type is BlockType {
  return types.has(type);
}

/** Reads the value of a record, which follows its key. */
export type ReadFields<T> = (bytes: TableBytes, key: string, type: number) => T;

/** A block of records that are sorted by their keys, not deflated. */
export class TableBlock {
  readonly type: BlockType;
  /** The position after the block in its table. */
  readonly next: number;
  /** In bytes, inflated. */
  readonly size: number;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;
  readonly #restarts: number;

  /**
   * @param bytes of the block, those before its type included if it is the first of a table.
   * @param start of its first record.
   */
  constructor(type: BlockType, bytes: Buffer, start: number, next: number) {
    [this.type, this.#bytes, this.#start, this.next] = [type, bytes, start, next];
    this.size = bytes.length;
    this.#restarts = bytes.readUInt16BE(bytes.length - 2);
    this.#end = bytes.length - 2 - 3 * this.#restarts;
    if (this.#restarts === 0 || this.#end < start) throw new RangeError('a block has no records');
  }

  /** Reads the records from a key on, in their order. */
  *records<T>(from: string, read: ReadFields<T>): Generator<T> {
    const bytes = new TableBytes(this.#bytes, this.#startBefore(from), this.#end);
    for (let before = ''; !bytes.isOver; ) {
      const { key, type } = bytes.key(before);
      const value = read(bytes, key, type);
      before = key;
      if (key >= from) yield value;
    }
  }

  /** The last position whose key is not shortened and not after a key; the first one for any other key. */
  #startBefore(key: string): number {
    let low = 0;
    let high = this.#restarts;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.#restart(middle);
      if (new TableBytes(this.#bytes, at, this.#end).key('').key <= key) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? this.#start : this.#restart(low - 1);
  }

  #restart(i: number): number {
    const at = this.#bytes.readUIntBE(this.#end + 3 * i, 3);
    if (at < this.#start) throw new RangeError('a record is before its block');
    return at;
  }
}
