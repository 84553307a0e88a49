import { exactLogarithm } from './exact-logarithm.ts';
import { original, type TokenStream, textEnd } from './token-stream.ts';

/** Words at most this far apart are neighbours; up to `near` they count in full. */
const window = 8;
const near = 4;
/** A word with a larger share of all tokens counts less. */
const frequent = 0.002;
/** A pair that counts less than this is left out. */
const leastCount = 0.25;
/** Rows that are counted in one pass over the tokens. */
const passRows = 2000;

/** A sparse matrix: the columns and values of each row, one row after the other. */
export interface SparseMatrix {
  readonly size: number;
  readonly starts: Uint32Array;
  readonly columns: Uint16Array;
  readonly values: Float32Array;
}

/**
 * Computes how much each word has to do with each other one: their positive pointwise mutual information.
 *
 * The contexts are smoothed by the power 0.75, and rare pairs count less.
 */
export function associations({ words, counts, tokens }: TokenStream): SparseMatrix {
  const size = words.length;
  const matrix = count(tokens, size, damping(counts));
  const { starts, columns, values } = matrix;
  const sums = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    let sum = 0;
    for (let at = starts[row] as number; at < (starts[row + 1] as number); at++) {
      sum += values[at] as number;
    }
    sums[row] = sum;
  }
  const contexts = sums.map((sum) => Math.sqrt(sum) * Math.sqrt(Math.sqrt(sum)));
  const total = contexts.reduce((sum, context) => sum + context, 0);
  let used = 0;
  for (let row = 0; row < size; row++) {
    const from = starts[row] as number;
    const to = starts[row + 1] as number;
    starts[row] = used;
    for (let at = from; at < to; at++) {
      const value = values[at] as number;
      const context = contexts[columns[at] as number] as number;
      const information = exactLogarithm((value * total) / ((sums[row] as number) * context));
      if (information <= 0) continue;
      columns[used] = columns[at] as number;
      values[used++] = (information * value) / (value + 1);
    }
  }
  starts[size] = used;
  return matrix;
}

function damping(counts: Float64Array): Float64Array {
  const total = counts.reduce((sum, one) => sum + one, 0);
  return counts.map((one) => Math.min(1, Math.sqrt((frequent * total) / Math.max(1, one))));
}

/** Counts the neighbours of each word. */
function count(tokens: Int32Array, size: number, damped: Float64Array): SparseMatrix {
  const starts = new Uint32Array(size + 1);
  let columns = new Uint16Array(1 << 24);
  let values = new Float32Array(1 << 24);
  let used = 0;
  const weights = Float64Array.from({ length: window + 1 }, (_, far) =>
    far <= near ? 1 : near / far,
  );
  const block = new Float32Array(passRows * size);
  for (let first = 0; first < size; first += passRows) {
    const last = Math.min(size, first + passRows);
    block.fill(0);
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at] as number;
      const isOriginal = token >= original;
      const word = isOriginal ? token - original : token;
      if (word < first || word >= last) continue;
      const row = (word - first) * size;
      const own = damped[word] as number;
      for (let step = -1; step <= 1; step += 2) {
        for (let far = 1; far <= window; far++) {
          const other = tokens[at + step * far];
          if (other === undefined || other === textEnd) break;
          // The neighbours in the original are those of the original alone.
          if (isOriginal && other >= original) continue;
          const column = other >= original ? other - original : other;
          if (column === word) continue;
          const place = row + column;
          const added = own * (damped[column] as number) * (weights[far] as number);
          block[place] = (block[place] as number) + added;
        }
      }
    }
    for (let word = first; word < last; word++) {
      starts[word] = used;
      const row = (word - first) * size;
      if (used + size > columns.length) {
        columns = enlarged(columns, new Uint16Array(2 * columns.length));
        values = enlarged(values, new Float32Array(2 * values.length));
      }
      for (let column = 0; column < size; column++) {
        const value = block[row + column] as number;
        if (value < leastCount) continue;
        columns[used] = column;
        values[used++] = value;
      }
    }
  }
  starts[size] = used;
  return { size, starts, columns, values };
}

function enlarged<T extends Uint16Array | Float32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
