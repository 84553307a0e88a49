import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
