import type { Embedder } from '../../core/declarations/embedder.ts';
import type { EmbeddingSettings } from './embedding-endpoint.ts';

/**
 * Reads the settings of the embedding model from the environment; undefined if it names none.
 *
 * @param warn receives problems with incomplete or invalid settings.
 */
export function embeddingSettings(
  env: { readonly [name: string]: string | undefined },
  warn: (message: string) => void,
): EmbeddingSettings | undefined {
  const { MEMORY_BANK_EMBEDDINGS_URL: url, MEMORY_BANK_EMBEDDINGS_MODEL: model } = env;
  const { MEMORY_BANK_EMBEDDINGS_FOLDER: folder, MEMORY_BANK_EMBEDDINGS_KEY: key } = env;
  if (folder) {
    warn(
      "MEMORY_BANK_EMBEDDINGS_FOLDER is not supported any more. Serve the model with a program that speaks the /embeddings of OpenAI's protocol, such as Ollama, and set MEMORY_BANK_EMBEDDINGS_URL and MEMORY_BANK_EMBEDDINGS_MODEL instead.",
    );
  }
  if (!url) {
    if (model) warn('No embedding model is used: MEMORY_BANK_EMBEDDINGS_URL is not set.');
    return undefined;
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    warn(
      `No embedding model is used: MEMORY_BANK_EMBEDDINGS_URL is not an http:// or https:// address: ${url}.`,
    );
    return undefined;
  }
  if (!model) {
    warn('No embedding model is used: MEMORY_BANK_EMBEDDINGS_MODEL is not set.');
    return undefined;
  }
  return { url, model, key };
}

/** Opens the model; its code is loaded now. */
export async function openEmbedder(settings: EmbeddingSettings): Promise<Embedder> {
  const { EmbeddingEndpoint } = await import('./embedding-endpoint.ts');
  return new EmbeddingEndpoint(settings);
}
