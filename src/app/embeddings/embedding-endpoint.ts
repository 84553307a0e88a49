import { type Embedder, maxVectorLength } from '../../core/declarations/embedder.ts';
import { isObject } from '../../core/values/json.ts';

/** An endpoint, and the model behind it that compares texts by meaning. */
export interface EmbeddingSettings {
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
}

/** A longer answer is not read to its end, in bytes. */
const maxAnswer = 32 * 1024 * 1024;
/** Time limit for an answer, in milliseconds. */
const timeout = 30_000;

/** A model behind an endpoint that speaks the `/embeddings` of OpenAI's protocol. */
export class EmbeddingEndpoint implements Embedder {
  readonly model: string;
  readonly #address: string;
  readonly #name: string;
  readonly #key: string | undefined;

  constructor(settings: EmbeddingSettings) {
    this.model = JSON.stringify([settings.url, settings.model]);
    this.#address = `${settings.url.replace(/\/+$/, '')}/embeddings`;
    this.#name = settings.model;
    this.#key = settings.key;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const late = AbortSignal.timeout(timeout);
    let bytes: Buffer;
    try {
      bytes = await this.#ask(texts, AbortSignal.any([signal, late]));
    } catch (error) {
      if (error instanceof EndpointError) throw error;
      throw new EndpointError(late.aborted ? 'did not answer in time' : 'cannot be reached');
    }
    return vectorsOf(bytes, texts.length);
  }

  async #ask(texts: readonly string[], signal: AbortSignal): Promise<Buffer> {
    const response = await fetch(this.#address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(this.#key && { authorization: `Bearer ${this.#key}` }),
      },
      body: JSON.stringify({ model: this.#name, input: texts, encoding_format: 'float' }),
      // The key and the texts are for this address only.
      redirect: 'error',
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new EndpointError(`answered ${response.status}`);
    }
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of response.body ?? []) {
      length += piece.length;
      // Leaving the loop closes the connection.
      if (length > maxAnswer) throw new EndpointError('answered too much');
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}

/** An endpoint that cannot be used now, without its own words: they may contain the key. */
class EndpointError extends Error {
  constructor(problem: string) {
    super(`The endpoint for embeddings ${problem}.`);
  }
}

const nonsense = () => new EndpointError('answered something that is not a list of vectors');

/** Reads one vector for each text; their order is that of the `index` in the answer. */
function vectorsOf(bytes: Buffer, count: number): Float32Array[] {
  let answer: unknown;
  try {
    answer = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw nonsense();
  }
  const data: unknown = isObject(answer) ? answer.data : undefined;
  if (!Array.isArray(data) || data.length !== count) throw nonsense();
  const found: Float32Array[] = [];
  for (const [at, one] of data.entries()) {
    const { index = at, embedding }: { index?: unknown; embedding?: unknown } = isObject(one)
      ? one
      : {};
    if (typeof index !== 'number' || !Number.isInteger(index)) throw nonsense();
    if (index < 0 || index >= count || found[index]) throw nonsense();
    found[index] = toVector(embedding);
  }
  if (found.some(({ length }) => length !== found[0]?.length)) throw nonsense();
  return found;
}

function toVector(value: unknown): Float32Array {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxVectorLength) {
    throw nonsense();
  }
  // A number too large for 32 bits becomes infinite.
  const vector = Float32Array.from(value, (one) => (typeof one === 'number' ? one : Number.NaN));
  if (!vector.every(Number.isFinite)) throw nonsense();
  return vector;
}
