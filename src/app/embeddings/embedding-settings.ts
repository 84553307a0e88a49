import { isAbsolute } from 'node:path';
import type { Embedder } from '../../core/declarations/embedder.ts';

/** The model that compares texts by meaning: an endpoint, or a folder with a static model. */
export type EmbeddingSettings =
  | { readonly url: string; readonly model: string; readonly key: string | undefined }
  | { readonly folder: string };

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
  if (!url && !folder) {
    if (model) warn('No embedding model is used: MEMORY_BANK_EMBEDDINGS_URL is not set.');
    return undefined;
  }
  const problem = problemOf(url, model, folder);
  if (problem !== undefined) {
    warn(`No embedding model is used: ${problem}.`);
    return undefined;
  }
  return folder ? { folder } : { url: url ?? '', model: model ?? '', key };
}

function problemOf(
  url: string | undefined,
  model: string | undefined,
  folder: string | undefined,
): string | undefined {
  if (url && folder) {
    return 'MEMORY_BANK_EMBEDDINGS_URL and MEMORY_BANK_EMBEDDINGS_FOLDER are both set';
  }
  if (folder) {
    return isAbsolute(folder)
      ? undefined
      : `MEMORY_BANK_EMBEDDINGS_FOLDER is not an absolute path: ${folder}`;
  }
  if (!URL.canParse(url ?? '') || !/^https?:$/.test(new URL(url ?? '').protocol)) {
    return `MEMORY_BANK_EMBEDDINGS_URL is not an http:// or https:// address: ${url}`;
  }
  return model ? undefined : 'MEMORY_BANK_EMBEDDINGS_MODEL is not set';
}

/** Opens the model; its code is loaded now. */
export async function openEmbedder(settings: EmbeddingSettings): Promise<Embedder> {
  if ('folder' in settings) {
    const { StaticModel } = await import('./static-model.ts');
    return StaticModel.open(settings.folder);
  }
  const { EmbeddingEndpoint } = await import('./embedding-endpoint.ts');
  return new EmbeddingEndpoint(settings);
}
