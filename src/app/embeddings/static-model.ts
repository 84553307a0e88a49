import { join } from 'node:path';
import { type Embedder, maxVectorLength } from '../../core/declarations/embedder.ts';
import { checksum } from '../../core/values/checksum.ts';
import { modelError, readJson } from './model-folder.ts';
import { Safetensors } from './safetensors.ts';
import { Tokenizer } from './tokenizer.ts';

/** More tokens of a text change its vector hardly. */
const maxTokens = 512;
/** Texts after which other work gets a turn. */
const stepTexts = 8;

/**
 * A static model of the model2vec form: the vector of a text is the mean of the vectors of its tokens.
 *
 * Tensor `embeddings` has one row for each token. Newer models add `weights` for the tokens, and
 * `mapping` from tokens to rows.
 */
export class StaticModel implements Embedder {
  readonly model: string;
  readonly isRemote = false;
  readonly #tokenizer: Tokenizer;
  readonly #tensors: Safetensors;
  readonly #rows: number;
  readonly #dimensions: number;
  readonly #weights: Float32Array | undefined;
  readonly #mapping: Float32Array | undefined;

  private constructor(folder: string, tokenizer: Tokenizer, tensors: Safetensors) {
    const [rows = 0, dimensions = 0, ...more] = tensors.shape('embeddings') ?? [];
    if (rows < 1 || dimensions < 1 || dimensions > maxVectorLength || more.length > 0) {
      throw modelError('model.safetensors has no usable tensor "embeddings"');
    }
    const column = (name: string) => {
      const [length = 0] = tensors.shape(name) ?? [];
      return length > 0 ? tensors.read(name, 0, length) : undefined;
    };
    this.#tokenizer = tokenizer;
    this.#tensors = tensors;
    this.#rows = rows;
    this.#dimensions = dimensions;
    this.#weights = column('weights');
    this.#mapping = column('mapping');
    const sample = tensors.read('embeddings', 0, dimensions * Math.min(rows, 64));
    const shape = `${folder} ${rows} ${dimensions} ${tokenizer.size}`;
    this.model = checksum(shape, new Int32Array(sample.buffer));
  }

  /**
   * Opens the model in a folder.
   *
   * @throws Error with a sentence for the user if it is not one.
   */
  static open(folder: string): StaticModel {
    const tokenizer = Tokenizer.of(readJson(folder, 'tokenizer.json'));
    return new StaticModel(folder, tokenizer, Safetensors.open(join(folder, 'model.safetensors')));
  }

  async embed(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly (Float32Array | undefined)[]> {
    const found: (Float32Array | undefined)[] = [];
    for (const text of texts) {
      found.push(this.#vector(text));
      if (found.length % stepTexts !== 0) continue;
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    }
    return found;
  }

  #vector(text: string): Float32Array | undefined {
    const sum = new Float32Array(this.#dimensions);
    let count = 0;
    for (const token of this.#tokenizer.tokens(text, maxTokens)) {
      const row = this.#mapping ? this.#mapping[token] : token;
      if (row === undefined || row < 0 || row >= this.#rows) continue;
      const weight = this.#weights?.[token] ?? 1;
      const vector = this.#tensors.read('embeddings', row * this.#dimensions, this.#dimensions);
      for (const [at, value] of vector.entries()) sum[at] = (sum[at] ?? 0) + weight * value;
      count += 1;
    }
    return count > 0 && sum.every(Number.isFinite) ? sum : undefined;
  }
}
