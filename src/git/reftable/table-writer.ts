import { crc32, deflateSync } from 'node:zlib';
import type { ObjectFormat } from '../objects/object-format.ts';
import { formatIds, headerSize, tableMark } from './ref-table.ts';
import type { BlockType } from './table-block.ts';
import { type LogRecord, logTypes, type RefRecord, refTypes } from './table-records.ts';

/** The content of a new table. */
export interface TableContent {
  readonly format: ObjectFormat;
  /** The numbers of its first and last transaction. */
  readonly first: number;
  readonly last: number;
  /** Sorted by their keys, as the logs are. */
  readonly refs: readonly RefRecord[];
  readonly logs: readonly LogRecord[];
}

/** Sizes of blocks as git writes them, in bytes; a block of logs is deflated. */
const blockSizes = { r: 4096, g: 8192 } as const;
/** Number of records from one with a whole key to the next. */
const interval = 16;

/** Encodes a table, with blocks that are not aligned. */
export function encodeTable(content: TableContent): Buffer {
  const header = headerOf(content);
  const pieces: Buffer[] = [];
  const size = () => pieces.reduce((sum, { length }) => sum + length, 0);
  const refs = content.refs.map((ref) => encodeRef(ref, content.first));
  const refIndex = addSection(pieces, size, header, 'r', refs);
  const isLogOnly = content.refs.length === 0;
  const logs = isLogOnly ? 0 : size();
  const logIndex = addSection(pieces, size, header, 'g', content.logs.map(encodeLog));
  if (pieces.length === 0) pieces.push(header);
  const positions = [refIndex, 0, 0, content.logs.length > 0 ? logs : 0, logIndex];
  const footer = Buffer.concat([header, ...positions.map(int64)]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(footer));
  return Buffer.concat([...pieces, footer, sum]);
}

function headerOf({ format, first, last }: TableContent): Buffer {
  const version = format.name === 'sha1' ? 1 : 2;
  const header = Buffer.alloc(headerSize(version));
  header.write(tableMark, 'latin1');
  header[4] = version;
  int64(first).copy(header, 8);
  int64(last).copy(header, 16);
  if (version === 2) header.write(formatIds[format.name], 24, 'latin1');
  return header;
}

/** A record as it is written, without its key. */
interface Encoded {
  readonly key: string;
  readonly type: number;
  readonly value: Buffer;
}

function encodeRef({ key, index, value, peeled }: RefRecord, first: number): Encoded {
  const number = varint(index - first);
  if (value === undefined) return { key, type: refTypes.removed, value: number };
  const target = /^ref: (.*)$/.exec(value)?.[1];
  if (target !== undefined) {
    const name = Buffer.from(target, 'utf8');
    return { key, type: refTypes.symbolic, value: Buffer.concat([number, sized(name)]) };
  }
  const type = peeled === undefined ? refTypes.oid : refTypes.tag;
  return { key, type, value: Buffer.concat([number, Buffer.from(value + (peeled ?? ''), 'hex')]) };
}

function encodeLog({ key, entry }: LogRecord): Encoded {
  if (!entry) return { key, type: logTypes.removed, value: Buffer.alloc(0) };
  const { from, to, name, email, seconds, zone, message } = entry;
  const offset = Buffer.alloc(2);
  offset.writeInt16BE(zone);
  const value = Buffer.concat([
    Buffer.from(from + to, 'hex'),
    ...[sized(name), sized(email), varint(seconds), offset, sized(message)],
  ]);
  return { key, type: logTypes.entry, value };
}

/** Adds the blocks of some records, and an index if they are several; returns its position, 0 for none. */
function addSection(
  pieces: Buffer[],
  size: () => number,
  header: Buffer,
  type: 'r' | 'g',
  records: readonly Encoded[],
): number {
  const index: Encoded[] = [];
  for (let i = 0; i < records.length; ) {
    const at = size();
    const block = new BlockWriter(type, at === 0 ? header : Buffer.alloc(0));
    let record = records[i];
    do {
      if (record) block.add(record);
      record = records[++i];
    } while (record && block.size + record.key.length + record.value.length < blockSizes[type]);
    pieces.push(block.finish());
    index.push({ key: records[i - 1]?.key ?? '', type: 0, value: varint(at) });
  }
  if (index.length < 2) return 0;
  const at = size();
  const block = new BlockWriter('i', Buffer.alloc(0));
  for (const record of index) block.add(record);
  pieces.push(block.finish());
  return at;
}

/** Writes records whose keys leave out what they share with the one before. */
class BlockWriter {
  readonly #type: BlockType;
  readonly #pieces: Buffer[];
  readonly #restarts: number[] = [];
  /** With the bytes before the block, as its offsets count. */
  size: number;
  #count = 0;
  #before = '';

  /** @param header of the table, in its first block. */
  constructor(type: BlockType, header: Buffer) {
    this.#type = type;
    this.#pieces = [header, Buffer.alloc(4)];
    this.size = header.length + 4;
  }

  add({ key, type, value }: Encoded): void {
    const isWhole = this.#count++ % interval === 0;
    if (isWhole) this.#restarts.push(this.size);
    const shared = isWhole ? 0 : sharedLength(this.#before, key);
    const rest = Buffer.from(key.slice(shared), 'latin1');
    this.#before = key;
    for (const piece of [varint(shared), varint(rest.length * 8 + type), rest, value]) {
      this.#pieces.push(piece);
      this.size += piece.length;
    }
  }

  finish(): Buffer {
    const end = Buffer.alloc(3 * this.#restarts.length + 2);
    for (const [i, at] of this.#restarts.entries()) end.writeUIntBE(at, 3 * i, 3);
    end.writeUInt16BE(this.#restarts.length, end.length - 2);
    const [header = end, head = end, ...records] = this.#pieces;
    head.write(this.#type, 'latin1');
    head.writeUIntBE(this.size + end.length, 1, 3);
    const rest = Buffer.concat([...records, end]);
    return Buffer.concat([header, head, this.#type === 'g' ? deflateSync(rest) : rest]);
  }
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

function sized(bytes: Buffer): Buffer {
  return Buffer.concat([varint(bytes.length), bytes]);
}

/** A number of variable length; see `TableBytes.varint`. */
function varint(value: number): Buffer {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift(128 + (rest % 128));
  }
  return Buffer.from(bytes);
}

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
