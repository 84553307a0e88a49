import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Answer = (
  input: readonly string[],
  response: ServerResponse,
  request: IncomingMessage,
) => void;

/** Sends one vector for each text, as OpenAI does. */
export function sendVectors(response: ServerResponse, vectors: readonly unknown[]): void {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ object: 'list', data, model: 'm' }));
}

/** An endpoint for embeddings; the test decides how it answers. */
export class EmbeddingServer {
  readonly inputs: (readonly string[])[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  readonly url: string;
  answer: Answer;
  readonly #server: Server;

  private constructor(server: Server, answer: Answer) {
    this.#server = server;
    this.answer = answer;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  }

  static async start(answer: Answer): Promise<EmbeddingServer> {
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const { input } = JSON.parse(body);
      started.inputs.push(input);
      started.headers.push(request.headers);
      started.answer(input, response, request);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const started = new EmbeddingServer(server, answer);
    return started;
  }

  /** All texts that it received. */
  get texts(): string[] {
    return this.inputs.flat();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Writes a file in the safetensors format. */
export function writeTensors(
  path: string,
  tensors: { readonly [name: string]: { dtype: string; shape: number[]; bytes: Buffer } },
): void {
  let end = 0;
  const header = Object.fromEntries(
    Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => {
      const start = end;
      end += bytes.length;
      return [name, { dtype, shape, data_offsets: [start, end] }];
    }),
  );
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  writeFileSync(path, Buffer.concat([length, json, ...Object.values(tensors).map((t) => t.bytes)]));
}

/** The bytes of numbers of 32 bits. */
export function floats(values: readonly number[]): Buffer {
  return Buffer.from(Float32Array.from(values).buffer);
}

/** Writes the folder of a static model; undefined parts are left out. */
export function modelFolder(tokenizer: unknown, rows: readonly (readonly number[])[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'memory-bank-model-'));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeTensors(join(folder, 'model.safetensors'), {
    embeddings: {
      dtype: 'F32',
      shape: [rows.length, rows[0]?.length ?? 0],
      bytes: floats(rows.flat()),
    },
  });
  return folder;
}
