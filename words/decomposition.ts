import { seededNumbers } from '../src/core/values/seeded-numbers.ts';
import { tableDimensions as dimensions } from '../src/store/search/meaning/packed-vector.ts';
import type { SparseMatrix } from './association-matrix.ts';

/** More dimensions than are kept, which make those that are kept more exact. */
const spare = 16;
const rounds = 4;
/** Sweeps after which the rotations of a small matrix no longer change it. */
const sweeps = 12;

/**
 * Computes a vector for each row by a truncated singular value decomposition.
 *
 * Each dimension has the square root of its singular value as its weight. All sums have a fixed order, and
 * no operation may differ from one machine to another.
 */
export function decompose(matrix: SparseMatrix): (row: number) => Float64Array {
  const width = dimensions + spare;
  const random = seededNumbers(1);
  let basis = Float64Array.from({ length: matrix.size * width }, () => 2 * random() - 1);
  orthonormalise(basis, width);
  for (let round = 0; round < rounds; round++) {
    basis = product(matrix, basis, width);
    orthonormalise(basis, width);
    basis = transposedProduct(matrix, basis, width);
    orthonormalise(basis, width);
  }
  basis = product(matrix, basis, width);
  orthonormalise(basis, width);
  // The rows of the matrix in the basis: its singular values are those of the small square.
  const small = transposedProduct(matrix, basis, width);
  const { values, vectors } = eigen(gram(small, width), width);
  const order = [...values.keys()].sort((a, b) => (values[b] as number) - (values[a] as number));
  const found = new Float64Array(matrix.size * dimensions);
  for (let row = 0; row < matrix.size; row++) {
    for (let at = 0; at < dimensions; at++) {
      const column = order[at] as number;
      let sum = 0;
      for (let i = 0; i < width; i++) {
        sum += (basis[row * width + i] as number) * (vectors[i * width + column] as number);
      }
      // The singular value is the square root of the eigenvalue.
      const singular = Math.sqrt(Math.max(0, values[column] as number));
      found[row * dimensions + at] = sum * Math.sqrt(singular);
    }
  }
  return (row) => found.subarray(row * dimensions, (row + 1) * dimensions);
}

function product({ size, starts, columns, values }: SparseMatrix, by: Float64Array, width: number) {
  const found = new Float64Array(size * width);
  for (let row = 0; row < size; row++) {
    const sum = found.subarray(row * width, (row + 1) * width);
    for (let at = starts[row] as number; at < (starts[row + 1] as number); at++) {
      const value = values[at] as number;
      const first = (columns[at] as number) * width;
      for (let i = 0; i < width; i++)
        sum[i] = (sum[i] as number) + value * (by[first + i] as number);
    }
  }
  return found;
}

function transposedProduct(
  { size, starts, columns, values }: SparseMatrix,
  by: Float64Array,
  width: number,
) {
  const found = new Float64Array(size * width);
  for (let row = 0; row < size; row++) {
    const own = by.subarray(row * width, (row + 1) * width);
    for (let at = starts[row] as number; at < (starts[row + 1] as number); at++) {
      const value = values[at] as number;
      const first = (columns[at] as number) * width;
      for (let i = 0; i < width; i++) {
        found[first + i] = (found[first + i] as number) + value * (own[i] as number);
      }
    }
  }
  return found;
}

/** Makes the columns orthonormal by the Cholesky factor of their products, twice for its exactness. */
function orthonormalise(basis: Float64Array, width: number): void {
  for (let time = 0; time < 2; time++) {
    const factor = cholesky(gram(basis, width), width);
    for (let row = 0; row < basis.length; row += width) {
      for (let i = 0; i < width; i++) {
        let sum = basis[row + i] as number;
        for (let j = 0; j < i; j++) {
          sum -= (factor[i * width + j] as number) * (basis[row + j] as number);
        }
        basis[row + i] = sum / (factor[i * width + i] as number);
      }
    }
  }
}

/** The lower triangle whose product with its transpose is a symmetric matrix. */
function cholesky(matrix: Float64Array, width: number): Float64Array {
  const factor = new Float64Array(width * width);
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * width + j] as number;
      for (let k = 0; k < j; k++) {
        sum -= (factor[i * width + k] as number) * (factor[j * width + k] as number);
      }
      const isDiagonal = i === j;
      factor[i * width + j] = isDiagonal
        ? Math.sqrt(Math.max(sum, Number.EPSILON))
        : sum / (factor[j * width + j] as number);
    }
  }
  return factor;
}

/** The products of all columns with each other. */
function gram(matrix: Float64Array, width: number): Float64Array {
  const found = new Float64Array(width * width);
  for (let row = 0; row < matrix.length; row += width) {
    for (let i = 0; i < width; i++) {
      const own = matrix[row + i] as number;
      for (let j = 0; j < width; j++) {
        found[i * width + j] = (found[i * width + j] as number) + own * (matrix[row + j] as number);
      }
    }
  }
  return found;
}

/** The eigenvalues of a symmetric matrix, and its eigenvectors as columns, by Jacobi rotations. */
function eigen(matrix: Float64Array, width: number) {
  const vectors = new Float64Array(width * width);
  for (let i = 0; i < width; i++) vectors[i * width + i] = 1;
  const rotate = (
    of: Float64Array,
    first: number,
    second: number,
    cosine: number,
    sine: number,
  ) => {
    const [one, other] = [of[first] as number, of[second] as number];
    of[first] = cosine * one - sine * other;
    of[second] = sine * one + cosine * other;
  };
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (let p = 0; p < width; p++) {
      for (let q = p + 1; q < width; q++) {
        const off = matrix[p * width + q] as number;
        if (off === 0) continue;
        const difference = (matrix[q * width + q] as number) - (matrix[p * width + p] as number);
        const theta = difference / (2 * off);
        const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const cosine = 1 / Math.sqrt(tangent * tangent + 1);
        const sine = tangent * cosine;
        for (let i = 0; i < width; i++) rotate(matrix, i * width + p, i * width + q, cosine, sine);
        for (let i = 0; i < width; i++) rotate(matrix, p * width + i, q * width + i, cosine, sine);
        for (let i = 0; i < width; i++) rotate(vectors, i * width + p, i * width + q, cosine, sine);
      }
    }
  }
  const values = Float64Array.from({ length: width }, (_, i) => matrix[i * width + i] as number);
  return { values, vectors };
}
