import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  InitializeRequestSchema,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  SetLevelRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../core/values/json.ts';
import { invalidParams } from './rpc-error.ts';
import { errorResponse, invalidRequest, type JsonLines, type MessageId } from './stdio.ts';

/** The limit of messages in one JSON-RPC batch; a longer batch is refused. */
export const maxBatch = 1_000;

/** A transport of the SDK for messages over a pair of streams, which counts the unanswered requests. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #lines: JsonLines;
  readonly #unanswered = new Set<MessageId>();
  #onanswered: () => void = () => {};

  constructor(lines: JsonLines) {
    this.#lines = lines;
  }

  async start(): Promise<void> {}

  /** Handles a message, or a batch of them. */
  receive(value: unknown): void {
    const batch = Array.isArray(value) && value.length > 0 && value.length <= maxBatch;
    // Answers to a batch are sent one by one, because current clients do not read batches.
    for (const message of batch ? value : [value]) this.#receive(message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#lines.send(message);
    } finally {
      if (!('method' in message)) this.#settle(message.id);
    }
  }

  async close(): Promise<void> {
    this.#lines.stop();
    this.onclose?.();
  }

  /** Resolves when every request that was not cancelled is answered. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      this.#onanswered = resolve;
      if (this.#unanswered.size === 0) resolve();
    });
  }

  #receive(value: unknown): void {
    const { success, data: message } = JSONRPCMessageSchema.safeParse(value);
    if (!success) {
      this.#refuse(value, invalidRequest, 'The message is not a valid JSON-RPC 2.0 request.');
      return;
    }
    if ('method' in message) {
      const schema = sdkMethods.get(message.method);
      if (schema && !schema.safeParse(message).success) {
        this.#refuse(message, invalidParams, `The parameters of ${message.method} are not valid.`);
        return;
      }
      if ('id' in message) this.#unanswered.add(message.id);
      else if (message.method === 'notifications/cancelled') this.#cancel(message.params);
    }
    this.onmessage?.(message);
  }

  #refuse(value: unknown, code: number, message: string): void {
    const id = isObject(value) ? value.id : undefined;
    const whole = typeof id === 'number' && Number.isInteger(id);
    const known = typeof id === 'string' || whole ? id : null;
    void this.#lines.send(errorResponse(known, code, message));
  }

  #cancel(params: { readonly [name: string]: unknown } | undefined): void {
    const id = params?.requestId;
    if (typeof id === 'string' || typeof id === 'number') this.#settle(id);
  }

  #settle(id: MessageId | undefined): void {
    if (id === undefined || !this.#unanswered.delete(id)) return;
    if (this.#unanswered.size === 0) this.#onanswered();
  }
}

/** Schemas of the requests that the SDK answers, which would report bad ones as internal errors. */
const sdkMethods = new Map<string, { safeParse(value: unknown): { success: boolean } }>([
  ['initialize', InitializeRequestSchema],
  ['logging/setLevel', SetLevelRequestSchema],
]);
