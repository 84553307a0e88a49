import type { Oid } from '../objects/object.ts';
import type { ObjectFormat } from '../objects/object-format.ts';
import { nameOf, type TableBytes, text } from './table-bytes.ts';

/** A ref in one table. */
export interface RefRecord {
  readonly key: string;
  /** The number of the transaction that set it. */
  readonly index: number;
  /** An object id, or `ref: <name>`; undefined if the ref was removed. */
  readonly value: string | undefined;
  /** The object that a tag names in the end. */
  readonly peeled?: Oid;
}

/** A change of a ref in its reflog. */
export interface ReflogEntry {
  readonly from: Oid;
  readonly to: Oid;
  readonly name: Buffer;
  readonly email: Buffer;
  readonly seconds: number;
  /** East of UTC, in the form that git writes: 230 for +0230. */
  readonly zone: number;
  readonly message: Buffer;
}

/** A line of a reflog in one table. */
export interface LogRecord {
  readonly key: string;
  readonly index: number;
  /** Undefined if the line was removed. */
  readonly entry: ReflogEntry | undefined;
}

/** The values of the types of records (gitformat-reftable). */
export const refTypes = { removed: 0, oid: 1, tag: 2, symbolic: 3 } as const;
export const logTypes = { removed: 0, entry: 1 } as const;

/** @param first the smallest number of a transaction in the table. */
export function readRef({ size }: ObjectFormat, first: number) {
  return (bytes: TableBytes, key: string, type: number): RefRecord => {
    const index = first + bytes.varint();
    const oid = () => bytes.take(size).toString('hex');
    if (type === refTypes.removed) return { key, index, value: undefined };
    if (type === refTypes.oid) return { key, index, value: oid() };
    if (type === refTypes.tag) return { key, index, value: oid(), peeled: oid() };
    if (type !== refTypes.symbolic) throw new RangeError('a ref has an unknown type');
    return { key, index, value: `ref: ${nameOf(text(bytes.sized()))}` };
  };
}

export function readLog({ size }: ObjectFormat) {
  return (bytes: TableBytes, key: string, type: number): LogRecord => {
    const end = Buffer.from(key.slice(-9), 'latin1');
    if (end.length < 9 || end[0] !== 0) throw new RangeError('a log has no number');
    const index = Number(0xffff_ffff_ffff_ffffn - end.readBigUInt64BE(1));
    if (type === logTypes.removed) return { key, index, entry: undefined };
    if (type !== logTypes.entry) throw new RangeError('a log has an unknown type');
    const oid = () => bytes.take(size).toString('hex');
    const entry = {
      from: oid(),
      to: oid(),
      name: bytes.sized(),
      email: bytes.sized(),
      seconds: bytes.varint(),
      zone: bytes.int16(),
      message: bytes.sized(),
    };
    return { key, index, entry };
  };
}

/** Reads the position of the block whose last record has the key. */
export function readPosition(bytes: TableBytes, _key: string, type: number): number {
  if (type !== 0) throw new RangeError('an index has an unknown type');
  return bytes.varint();
}
