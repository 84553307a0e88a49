import { afterEach, describe, expect, test } from 'vitest';
import { embeddingSettings, openEmbedder } from '../../src/app/embeddings/embedding-settings.ts';
import { deep } from '../support/depth.ts';
import { EmbeddingServer, sendVectors } from '../support/embeddings.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

const never = new AbortController().signal;

async function serve(answer: EmbeddingServer['answer'], key?: string) {
  const server = await EmbeddingServer.start(answer);
  cleanUp.push(() => server.stop());
  const embedder = await openEmbedder({ url: `${server.url}/`, model: 'm', key });
  return { server, embedder };
}

describe('an endpoint for embeddings', () => {
  test('gets the texts, the model and the key, and answers vectors in the order of the index', async () => {
    const { server, embedder } = await serve((input, response) => {
      const data = input.map((text, index) => ({ index, embedding: [text.length, 1] })).reverse();
      response.end(JSON.stringify({ data }));
    }, 'k');
    const found = await embedder.embed(['a', 'bcd'], never);
    expect(found.map((vector) => [...(vector ?? [])])).toEqual([
      [1, 1],
      [3, 1],
    ]);
    expect(server.headers[0]?.authorization).toBe('Bearer k');
  });

  test.each<[string, unknown[] | string]>([
    ['NaN', '{"data":[{"embedding":[NaN]},{"embedding":[1]}]}'],
    ['null', [[null], [1]]],
    ['numbers too large for 32 bits', [[1e300], [1]]],
    ['different lengths', [[1, 2], [1]]],
    ['an empty vector', [[], []]],
    ['texts', [['1'], ['2']]],
    ['too few vectors', [[1]]],
    ['too many vectors', [[1], [2], [3]]],
    ['a vector that is too long', [new Array(9000).fill(1), [1]]],
    ['no list', '{"data":7}'],
    ['the same index twice', '{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}'],
    ['an index of its own', '{"data":[{"index":-1,"embedding":[1]},{"index":9,"embedding":[1]}]}'],
    ['HTML', '<html>'],
  ])('that answers %s is refused', async (_name, answer) => {
    const { embedder } = await serve((_input, response) => {
      if (typeof answer === 'string') response.end(answer);
      else sendVectors(response, answer);
    });
    await expect(embedder.embed(['a', 'b'], never)).rejects.toThrow(
      'The endpoint for embeddings answered something that is not a list of vectors.',
    );
  });

  deep('that answers 100 MB is not read to the end', async () => {
    let sent = 0;
    const { embedder } = await serve((_input, response) => {
      const piece = Buffer.alloc(1024 * 1024, 32);
      const more = () => {
        while (sent < 100 && !response.destroyed) {
          sent += 1;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    await expect(embedder.embed(['a'], never)).rejects.toThrow('answered too much');
    expect(sent).toBeLessThan(100);
  });

  test('that refuses, redirects, breaks off or hangs fails without its own words', async () => {
    const { server, embedder } = await serve((_input, response) => {
      response.statusCode = 401;
      response.end('the key sk-123 is wrong');
    });
    const failure = () => embedder.embed(['a'], never).catch((error: Error) => error.message);
    expect(await failure()).toBe('The endpoint for embeddings answered 401.');
    server.answer = (_input, response) => response.writeHead(307, { location: '/else' }).end();
    expect(await failure()).toBe('The endpoint for embeddings cannot be reached.');
    server.answer = (_input, response) => response.destroy();
    expect(await failure()).toBe('The endpoint for embeddings cannot be reached.');
    server.answer = () => undefined;
    const hanging = embedder.embed(['a'], AbortSignal.timeout(20)).catch((error) => error.message);
    expect(await hanging).toBe('The endpoint for embeddings cannot be reached.');
  });
});

describe('the settings of an embedding model', () => {
  const read = (env: { readonly [name: string]: string }) => {
    const warnings: string[] = [];
    return { settings: embeddingSettings(env, (message) => warnings.push(message)), warnings };
  };
  const url = 'http://127.0.0.1:1/v1';

  test('are an endpoint with a model', () => {
    expect(read({}).settings).toBeUndefined();
    expect(
      read({ MEMORY_BANK_EMBEDDINGS_URL: url, MEMORY_BANK_EMBEDDINGS_MODEL: 'm' }).settings,
    ).toEqual({ url, model: 'm', key: undefined });
  });

  test.each([
    [{ MEMORY_BANK_EMBEDDINGS_URL: url }, /_MODEL is not set/],
    [{ MEMORY_BANK_EMBEDDINGS_MODEL: 'm' }, /_URL is not set/],
    [{ MEMORY_BANK_EMBEDDINGS_URL: 'ftp://x', MEMORY_BANK_EMBEDDINGS_MODEL: 'm' }, /ftp:\/\/x/],
    [{ MEMORY_BANK_EMBEDDINGS_FOLDER: '/models/m' }, /_FOLDER is not supported any more/],
  ])('that are incomplete are reported: %j', (env, problem) => {
    const { settings, warnings } = read(env as { [name: string]: string });
    expect(settings).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(problem)]);
  });

  test('that name a folder are reported, also next to an endpoint, which is used', () => {
    const { settings, warnings } = read({
      MEMORY_BANK_EMBEDDINGS_FOLDER: '/models/m',
      MEMORY_BANK_EMBEDDINGS_URL: url,
      MEMORY_BANK_EMBEDDINGS_MODEL: 'm',
    });
    expect(settings).toEqual({ url, model: 'm', key: undefined });
    expect(warnings).toEqual([expect.stringMatching(/set MEMORY_BANK_EMBEDDINGS_URL/)]);
  });
});
