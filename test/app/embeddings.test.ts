import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { embeddingSettings, openEmbedder } from '../../src/app/embeddings/embedding-settings.ts';
import {
  EmbeddingServer,
  floats,
  modelFolder,
  sendVectors,
  writeTensors,
} from '../support/embeddings.ts';

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

  test('that answers 100 MB is not read to the end', async () => {
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

const wordPiece = {
  normalizer: { type: 'BertNormalizer', lowercase: true },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    vocab: { '[UNK]': 0, log: 1, '##in': 2, cookie: 3, '!': 4, 漢: 5 },
  },
};
const unigram = {
  normalizer: { type: 'Sequence', normalizers: [{ type: 'Precompiled' }, { type: 'Lowercase' }] },
  pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' },
  model: {
    type: 'Unigram',
    unk_id: 0,
    vocab: [
      ['<unk>', 0],
      ['▁log', -2],
      ['in', -3],
      ['▁login', -4],
      ['▁', -5],
    ],
  },
};
const rows = [0, 1, 2, 3, 4, 5].map((row) => [row, 1]);

function folderOf(tokenizer: unknown, table = rows): string {
  const folder = modelFolder(tokenizer, table);
  cleanUp.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function vectors(folder: string, texts: readonly string[]) {
  const embedder = await openEmbedder({ folder });
  const found = await embedder.embed(texts, never);
  return found.map((vector) => vector && [...vector]);
}

describe('a folder with a static model', () => {
  test('divides words as WordPiece does, and adds up the vectors of the pieces', async () => {
    const folder = folderOf(wordPiece);
    expect(await vectors(folder, ['Login', 'LÓG cookie!', 'zzz', '漢cookie', 'loginx'])).toEqual([
      [3, 2],
      [8, 3],
      undefined,
      [8, 2],
      undefined,
    ]);
  });

  test('divides words as Unigram does: the likeliest division', async () => {
    const folder = folderOf(unigram, rows.slice(0, 5));
    expect(await vectors(folder, ['login', 'ＬＯＧ', 'log qin'])).toEqual([
      [3, 1],
      [1, 1],
      [7, 3],
    ]);
  });

  test('reads numbers of 16 and 8 bits, weights of tokens and a mapping to rows', async () => {
    const folder = folderOf(wordPiece);
    const half = Buffer.from(Uint16Array.of(0x3c00, 0xc000, 0x3800, 0x0001).buffer);
    const mapping = Buffer.from(BigInt64Array.of(0n, 1n, 0n, 1n, 0n, 9n).buffer);
    writeTensors(join(folder, 'model.safetensors'), {
      embeddings: { dtype: 'F16', shape: [2, 2], bytes: half },
      weights: { dtype: 'F32', shape: [6], bytes: floats([1, 2, 1, 1, 1, 1]) },
      mapping: { dtype: 'I64', shape: [6], bytes: mapping },
    });
    expect(await vectors(folder, ['log', 'cookie !', '漢'])).toEqual([
      [1, 2 ** -23],
      [1.5, -2],
      undefined,
    ]);
    const bytes = Buffer.from(Int8Array.of(0, 0, 0, 0, 0, 0, -5, 7, 0, 0, 0, 0).buffer);
    writeTensors(join(folder, 'model.safetensors'), {
      embeddings: { dtype: 'I8', shape: [6, 2], bytes },
    });
    expect(await vectors(folder, ['cookie'])).toEqual([[-5, 7]]);
  });

  const odd: [string, (folder: string) => void, RegExp][] = [
    ['no tokenizer', (folder) => rmSync(join(folder, 'tokenizer.json')), /ENOENT/],
    ['no model', (folder) => rmSync(join(folder, 'model.safetensors')), /ENOENT/],
    [
      'a cut model',
      (folder) => truncateSync(join(folder, 'model.safetensors'), 100),
      /is cut|not a/,
    ],
    [
      'an empty model',
      (folder) => truncateSync(join(folder, 'model.safetensors'), 0),
      /usable|not a/,
    ],
    [
      'a header without end',
      (folder) => writeFileSync(join(folder, 'model.safetensors'), Buffer.alloc(64, 0xff)),
      /is not a safetensors file/,
    ],
    [
      'a tensor of three dimensions',
      (folder) =>
        writeTensors(join(folder, 'model.safetensors'), {
          embeddings: { dtype: 'F32', shape: [1, 1, 2], bytes: floats([1, 2]) },
        }),
      /no usable tensor/,
    ],
    [
      'broken JSON',
      (folder) => writeFileSync(join(folder, 'tokenizer.json'), '{'),
      /tokenizer\.json is not valid JSON/,
    ],
    [
      'another tokenizer',
      (folder) => writeFileSync(join(folder, 'tokenizer.json'), '{"model":{"type":"BPE"}}'),
      /unknown type: "BPE"/,
    ],
    [
      'another step',
      (folder) => {
        const strange = { ...wordPiece, pre_tokenizer: { type: 'Other' } };
        writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(strange));
      },
      /pre_tokenizer is of an unknown type: "Other"/,
    ],
    [
      'a vocabulary of texts',
      (folder) => {
        const strange = { model: { type: 'WordPiece', vocab: { a: 'b' } } };
        writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(strange));
      },
      /numbers a token wrongly/,
    ],
  ];
  test.each(odd)('with %s is refused with its problem', async (_name, spoil, problem) => {
    const folder = folderOf(wordPiece);
    spoil(folder);
    await expect(openEmbedder({ folder })).rejects.toThrow(problem);
  });

  test('gives no vector where its numbers are not numbers', async () => {
    const folder = folderOf(
      wordPiece,
      rows.map(() => [Number.NaN, 1]),
    );
    expect(await vectors(folder, ['log'])).toEqual([undefined]);
  });
});

describe('the settings of an embedding model', () => {
  const read = (env: { readonly [name: string]: string }) => {
    const warnings: string[] = [];
    return { settings: embeddingSettings(env, (message) => warnings.push(message)), warnings };
  };
  const url = 'http://127.0.0.1:1/v1';

  test('are an endpoint with a model, or a folder', () => {
    expect(read({}).settings).toBeUndefined();
    expect(
      read({ MEMORY_BANK_EMBEDDINGS_URL: url, MEMORY_BANK_EMBEDDINGS_MODEL: 'm' }).settings,
    ).toEqual({ url, model: 'm', key: undefined });
    expect(read({ MEMORY_BANK_EMBEDDINGS_FOLDER: '/models/m' }).settings).toEqual({
      folder: '/models/m',
    });
  });

  test.each([
    [{ MEMORY_BANK_EMBEDDINGS_URL: url }, /_MODEL is not set/],
    [{ MEMORY_BANK_EMBEDDINGS_MODEL: 'm' }, /_URL is not set/],
    [{ MEMORY_BANK_EMBEDDINGS_URL: 'ftp://x', MEMORY_BANK_EMBEDDINGS_MODEL: 'm' }, /ftp:\/\/x/],
    [{ MEMORY_BANK_EMBEDDINGS_FOLDER: 'models' }, /not an absolute path: models/],
    [{ MEMORY_BANK_EMBEDDINGS_URL: url, MEMORY_BANK_EMBEDDINGS_FOLDER: '/m' }, /are both set/],
  ])('that are incomplete are reported: %j', (env, problem) => {
    const { settings, warnings } = read(env as { [name: string]: string });
    expect(settings).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(problem)]);
  });
});
