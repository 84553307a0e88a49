import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { modelError } from './model-folder.ts';

/** A longer header is not read, in bytes. */
const maxHeader = 1024 * 1024;

/** Sizes of the supported types of numbers, and how they are read. */
const types: {
  readonly [name: string]:
    | { readonly size: number; read(view: DataView, at: number): number }
    | undefined;
} = {
  F64: { size: 8, read: (view, at) => view.getFloat64(at, true) },
  F32: { size: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { size: 2, read: (view, at) => half(view.getUint16(at, true)) },
  BF16: { size: 2, read: (view, at) => brainHalf(view.getUint16(at, true)) },
  I64: { size: 8, read: (view, at) => Number(view.getBigInt64(at, true)) },
  I32: { size: 4, read: (view, at) => view.getInt32(at, true) },
  I8: { size: 1, read: (view, at) => view.getInt8(at) },
};

interface Tensor {
  readonly type: { readonly size: number; read(view: DataView, at: number): number };
  readonly shape: readonly number[];
  /** Offset in the file. */
  readonly start: number;
}

/** A file of tensors in the safetensors format; only the rows that are asked for are read. */
export class Safetensors {
  readonly #fd: number;
  readonly #tensors: ReadonlyMap<string, Tensor>;

  private constructor(fd: number, tensors: ReadonlyMap<string, Tensor>) {
    this.#fd = fd;
    this.#tensors = tensors;
  }

  /** @throws Error if it is not such a file. */
  static open(path: string): Safetensors {
    const fd = openSync(path, 'r');
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) throw modelError(`${path} is not a file`);
      return new Safetensors(fd, readHeader(fd, stat.size, path));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** The lengths of a tensor; undefined if there is none with this name, or of another type of number. */
  shape(name: string): readonly number[] | undefined {
    return this.#tensors.get(name)?.shape;
  }

  /** Reads numbers of a tensor, from a position in the order of its rows. */
  read(name: string, first: number, count: number): Float32Array {
    const tensor = this.#tensors.get(name);
    if (!tensor) return new Float32Array();
    const { size, read } = tensor.type;
    const bytes = Buffer.alloc(count * size);
    const length = readSync(this.#fd, bytes, 0, bytes.length, tensor.start + first * size);
    if (length !== bytes.length) throw modelError('the file of the model has become shorter');
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Float32Array.from({ length: count }, (_, at) => read(view, at * size));
  }
}

function readHeader(fd: number, size: number, path: string): Map<string, Tensor> {
  const start = Buffer.alloc(8);
  readSync(fd, start, 0, 8, 0);
  const length = Number(start.readBigUInt64LE());
  if (length > maxHeader || 8 + length > size)
    throw modelError(`${path} is not a safetensors file`);
  const bytes = Buffer.alloc(length);
  readSync(fd, bytes, 0, length, 8);
  const header: unknown = parse(bytes.toString('utf8'), path);
  const tensors = new Map<string, Tensor>();
  if (typeof header !== 'object' || header === null) return tensors;
  for (const [name, value] of Object.entries(header)) {
    if (typeof value !== 'object' || value === null) continue;
    const { dtype, shape, data_offsets: offsets }: { [key: string]: unknown } = value;
    const type =
      typeof dtype === 'string' && Object.hasOwn(types, dtype) ? types[dtype] : undefined;
    if (!type || !isSizes(shape) || !isSizes(offsets)) continue;
    const [from = 0, to = 0] = offsets;
    const needed = type.size * shape.reduce((product, one) => product * one, 1);
    if (to - from !== needed || 8 + length + to > size) {
      throw modelError(`the tensor "${name}" of ${path} is cut`);
    }
    tensors.set(name, { type, shape, start: 8 + length + from });
  }
  return tensors;
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw modelError(`${path} is not a safetensors file`);
  }
}

function isSizes(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length <= 2 &&
    value.every((one) => Number.isSafeInteger(one) && one >= 0)
  );
}

/** A number of 16 bits: one for the sign, five for the exponent. */
function half(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits >> 15 ? -1 : 1;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * 2 ** -24 * fraction;
  return sign * 2 ** (exponent - 25) * (1024 + fraction);
}

/** The upper half of a number of 32 bits. */
function brainHalf(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}
