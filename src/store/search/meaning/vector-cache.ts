import { bytesOf, isSorted, jsonBytes, type SectionFile } from '../../derived/section-file.ts';

/** Limits of the vectors that are kept. */
export const maxVectors = 50_000;
export const maxVectorBytes = 48 * 1024 * 1024;
/** A number of 8 bits is the part of a vector whose largest part is 1, times this. */
const scale = 127;

/** The sections of a saved cache by position. */
const sections = { keys: 0, shape: 1, vectors: 2 } as const;

/** Vectors of texts by a hash of the text, each in numbers of 8 bits; all have the same length. */
export class VectorCache {
  readonly #vectors = new Map<string, Int8Array>();
  #dimensions = 0;

  /** The length of each vector; 0 if there is none. */
  get dimensions(): number {
    return this.#dimensions;
  }

  get size(): number {
    return this.#vectors.size;
  }

  get isFull(): boolean {
    return this.size >= maxVectors || this.size * this.#dimensions >= maxVectorBytes;
  }

  has(key: string): boolean {
    return this.#vectors.has(key);
  }

  get(key: string): Int8Array | undefined {
    return this.#vectors.get(key);
  }

  /** Adds a vector; returns false for one that does not fit to the others, or has no direction. */
  add(key: string, vector: Float32Array): boolean {
    const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    if (!(most > 0) || !Number.isFinite(most)) return false;
    if (this.#dimensions > 0 && vector.length !== this.#dimensions) return false;
    this.#dimensions = vector.length;
    this.#vectors.set(
      key,
      Int8Array.from(vector, (value) => Math.round((scale * value) / most)),
    );
    return true;
  }

  /** Removes all vectors except for some; all of them have to be made again if none is left. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#vectors.keys()) if (!keys.has(key)) this.#vectors.delete(key);
    if (this.size === 0) this.#dimensions = 0;
  }

  /** Encodes the vectors as sections of a file. */
  encode(): Uint8Array[] {
    const keys = [...this.#vectors.keys()].sort();
    const vectors = new Int8Array(keys.length * this.#dimensions);
    for (const [at, key] of keys.entries()) {
      vectors.set(this.#vectors.get(key) ?? [], at * this.#dimensions);
    }
    return [jsonBytes(keys), bytesOf(Uint32Array.of(this.#dimensions)), bytesOf(vectors)];
  }

  /** Reads the vectors of a file; nothing of a damaged one. */
  load(file: SectionFile): void {
    const keys = file.json(sections.keys);
    const [dimensions = 0] = file.integers(sections.shape, 1) ?? [];
    const bytes = file.section(sections.vectors);
    if (!isSorted(keys) || !bytes || dimensions < 1) return;
    if (bytes.length !== keys.length * dimensions) return;
    this.#dimensions = dimensions;
    for (const [at, key] of keys.entries()) {
      // A copy, so that vectors that are removed do not keep the whole file in memory.
      const part = new Int8Array(bytes.buffer, bytes.byteOffset + at * dimensions, dimensions);
      this.#vectors.set(key, part.slice());
    }
  }
}

/** The cosine of a vector and a kept one. */
export function cosine(one: Float32Array, kept: Int8Array): number {
  let [product, square, other] = [0, 0, 0];
  for (let at = 0; at < kept.length; at++) {
    const [a, b] = [one[at] as number, kept[at] as number];
    product += a * b;
    square += a * a;
    other += b * b;
  }
  return product / Math.sqrt(square * other);
}
