import { vectorBytes } from '../terms/document-vectors.ts';

/** The number of dimensions of the vectors of the word table, and of the records that are compared by them. */
export const tableDimensions = 72;
/** A packed vector is a factor of 32 bits, then 4 bits for each dimension. */
export const vectorWords = vectorBytes / 4;
const factorBytes = 4;
/** The numbers of 4 bits are 1 to 15; 8 is zero. */
const zero = 8;
const most = 7;

/**
 * Packs a vector into its place among others.
 *
 * @param factorOf returns the factor of the whole numbers by their step, and by the length that they have.
 */
export function packVector(
  vector: ArrayLike<number>,
  to: Uint8Array,
  row: number,
  factorOf: (step: number, length: number) => number,
): void {
  let largest = 0;
  for (let at = 0; at < tableDimensions; at++) {
    largest = Math.max(largest, Math.abs(vector[at] as number));
  }
  const step = largest / most || 1;
  const first = row * vectorBytes + factorBytes;
  let square = 0;
  for (let at = 0; at < tableDimensions; at += 2) {
    const low = Math.round((vector[at] as number) / step);
    const high = Math.round((vector[at + 1] as number) / step);
    square += low * low + high * high;
    to[first + at / 2] = low + zero + 16 * (high + zero);
  }
  const factor = new Float32Array([factorOf(step, Math.sqrt(square))]);
  to.set(new Uint8Array(factor.buffer), row * vectorBytes);
}

/** Adds a packed vector to a sum. */
export function addPacked(
  sum: Float64Array,
  bytes: Uint8Array,
  factors: Float32Array,
  row: number,
  weight: number,
): void {
  const first = row * vectorBytes + factorBytes;
  const scaled = weight * (factors[row * vectorWords] as number);
  for (let at = 0; at < tableDimensions; at += 2) {
    const pair = bytes[first + at / 2] as number;
    sum[at] = (sum[at] as number) + scaled * ((pair & 15) - zero);
    sum[at + 1] = (sum[at + 1] as number) + scaled * ((pair >>> 4) - zero);
  }
}

/** Compares many packed vectors with one: the products of each pair of dimensions are looked up. */
export class PackedComparison {
  readonly #products = new Float32Array(256 * (tableDimensions / 2));

  constructor(asked: Float64Array) {
    for (let at = 0; at < tableDimensions; at += 2) {
      const [one, other] = [asked[at] as number, asked[at + 1] as number];
      for (let pair = 0; pair < 256; pair++) {
        this.#products[128 * at + pair] =
          one * ((pair & 15) - zero) + other * ((pair >>> 4) - zero);
      }
    }
  }

  /**
   * The scalar product with the vector of a row.
   *
   * Four bytes are read at once, into two sums that do not wait for each other: two thirds of the time.
   *
   * @param packed the packed vectors as whole numbers, and `factors` as others.
   */
  with(packed: Uint32Array, factors: Float32Array, row: number): number {
    const products = this.#products;
    const first = row * vectorWords + 1;
    let some = 0;
    let others = 0;
    for (let word = 0; word < vectorWords - 1; word++) {
      const four = packed[first + word] as number;
      const at = 1024 * word;
      some += products[at + (four & 255)] as number;
      some += products[at + 256 + ((four >>> 8) & 255)] as number;
      others += products[at + 512 + ((four >>> 16) & 255)] as number;
      others += products[at + 768 + (four >>> 24)] as number;
    }
    return (some + others) * (factors[row * vectorWords] as number);
  }
}
