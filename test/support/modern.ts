import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { App } from '../../src/app/app.ts';
import { serveStdio } from '../../src/server/mcp/mcp.ts';
import { JsonLines } from '../../src/server/mcp/stdio.ts';

/** The revision of MCP in which each request describes itself. */
export const revision = '2026-07-28' as const;

/** Returns the `_meta` of a request, with more of its fields: `{ logLevel: 'debug' }`. */
export function modernMeta(fields: { readonly [name: string]: unknown } = {}) {
  const named = Object.entries({
    protocolVersion: revision,
    clientCapabilities: {},
    clientInfo: { name: 'raw', version: '1' },
    ...fields,
  }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    named.map(([name, value]) => [
      name === 'progressToken' ? name : `io.modelcontextprotocol/${name}`,
      value,
    ]),
  );
}

/** Returns an HTTP request that calls a tool; `fields` are more of its `_meta`. */
export function modernCall(name: string, args: object, fields: object = {}) {
  return {
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, _meta: modernMeta({ ...fields }) },
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a message of which the test asserts every part
type Message = any;

/** A client of a stdio server in this process, whose requests describe themselves. */
export class ModernClient {
  readonly messages: Message[] = [];
  /** Resolves when the server has ended. */
  readonly ended: Promise<void>;
  readonly #input = new PassThrough();
  readonly #waiting = new Set<() => void>();
  #over = false;

  constructor(app: App) {
    const output = new PassThrough();
    createInterface(output).on('line', (line) => {
      this.messages.push(JSON.parse(line));
      for (const look of this.#waiting) look();
    });
    const lines = new JsonLines(this.#input, output);
    this.ended = serveStdio(app, lines, '0.0.0').then(() => {
      this.#over = true;
      for (const look of this.#waiting) look();
    });
  }

  send(message: object): this {
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return this;
  }

  /** Sends a request of this revision; `fields` are more of its `_meta`. */
  ask(id: number | string, method: string, params: object = {}, fields: object = {}): this {
    return this.send({ id, method, params: { ...params, _meta: modernMeta({ ...fields }) } });
  }

  call(id: number | string, name: string, args?: unknown, fields: object = {}): this {
    return this.ask(id, 'tools/call', { name, arguments: args }, fields);
  }

  cancel(requestId: number | string): this {
    return this.send({ method: 'notifications/cancelled', params: { requestId } });
  }

  /** Returns the first matching message, past or future. */
  find(matches: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.messages.find(matches);
        if (found === undefined && !this.#over) return;
        this.#waiting.delete(look);
        if (found === undefined) reject(new Error('no such message'));
        else resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  answer(id: number | string): Promise<Message> {
    return this.find((message) => message.id === id && !('method' in message));
  }

  /** Returns the first notification of a method. */
  notified(method: string): Promise<Message> {
    return this.find((message) => message.method === `notifications/${method}`);
  }

  end(): Promise<void> {
    this.#input.end();
    return this.ended;
  }
}
