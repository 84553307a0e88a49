import { seededNumbers } from '../../../core/values/seeded-numbers.ts';
import type { Steps } from '../../records/slices.ts';
import type { Collection } from '../terms/collection.ts';
import { type ProjectText, type TermRow, trainingMatrix } from './training-matrix.ts';
import { toUnit } from './unit-vector.ts';
import { dimensions, WordVectors } from './word-vectors.ts';

/** Fewer texts have too few words in common: measured in docs/benchmarks.md. */
const leastTexts = 100;
/** Rounds of the iteration; more of them change the order of hits no further. */
const rounds = 3;
/** Products computed in one step. */
const stepProducts = 1 << 16;

/**
 * Learns vectors of words from the texts that they are in, by a truncated singular value decomposition.
 *
 * Subspace iteration on the side of the texts: in each round every term adds up its texts, and every
 * text its terms. The same texts give the same vectors.
 *
 * @returns undefined for too few texts.
 */
export function* learnVectors(
  collection: Collection,
  others: readonly ProjectText[],
): Steps<WordVectors | undefined> {
  if (collection.size + others.length < leastTexts) return undefined;
  const { rows, texts } = yield* trainingMatrix(collection, others);
  const random = seededNumbers(1);
  let basis = Float32Array.from({ length: texts * dimensions }, () => 2 * random() - 1);
  yield* orthonormalise(basis);
  const sum = new Float32Array(dimensions);
  for (let round = 0; round < rounds; round++) {
    const next = new Float32Array(basis.length);
    let done = 0;
    for (const row of rows) {
      addTexts(row, basis, sum);
      addTerm(row, sum, next);
      done += row.texts.length * dimensions;
      if (done < stepProducts) continue;
      done = 0;
      yield;
    }
    basis = next;
    yield* orthonormalise(basis);
  }
  const learned: TermRow[] = [];
  const vectors = new Int8Array(rows.length * dimensions);
  for (const [index, row] of rows.entries()) {
    if (index % 512 === 0) yield;
    addTexts(row, basis, sum);
    if (!toUnit(sum)) continue;
    for (const [at, value] of sum.entries()) {
      vectors[learned.length * dimensions + at] = Math.round(WordVectors.scale * value);
    }
    learned.push(row);
  }
  return new WordVectors(
    learned.map(({ text }) => text),
    Float32Array.from(learned, ({ rarity }) => rarity),
    vectors.slice(0, learned.length * dimensions),
  );
}

/** Computes the vector of a term from those of its texts. */
function addTexts({ texts, values }: TermRow, basis: Float32Array, sum: Float32Array): void {
  sum.fill(0);
  for (let at = 0; at < texts.length; at++) {
    const first = dimensions * (texts[at] as number);
    const value = values[at] as number;
    for (let i = 0; i < dimensions; i++) {
      sum[i] = (sum[i] as number) + value * (basis[first + i] as number);
    }
  }
}

/** Adds the vector of a term to those of its texts. */
function addTerm({ texts, values }: TermRow, sum: Float32Array, next: Float32Array): void {
  for (let at = 0; at < texts.length; at++) {
    const first = dimensions * (texts[at] as number);
    const value = values[at] as number;
    for (let i = 0; i < dimensions; i++) {
      next[first + i] = (next[first + i] as number) + value * (sum[i] as number);
    }
  }
}

/** Makes the columns of a basis orthonormal, by the modified Gram–Schmidt process. */
function* orthonormalise(basis: Float32Array): Steps {
  for (let column = 0; column < dimensions; column++) {
    for (let other = 0; other < column; other++) {
      let product = 0;
      for (let at = 0; at < basis.length; at += dimensions) {
        product += (basis[at + column] as number) * (basis[at + other] as number);
      }
      for (let at = 0; at < basis.length; at += dimensions) {
        const change = product * (basis[at + other] as number);
        basis[at + column] = (basis[at + column] as number) - change;
      }
    }
    let square = 0;
    for (let at = column; at < basis.length; at += dimensions) square += (basis[at] as number) ** 2;
    const length = Math.sqrt(square) || 1;
    for (let at = column; at < basis.length; at += dimensions) {
      basis[at] = (basis[at] as number) / length;
    }
    yield;
  }
}
