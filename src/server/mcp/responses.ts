import type { IncomingMessage, ServerResponse } from 'node:http';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { internalError } from './rpc-error.ts';
import { errorResponse, type MessageId } from './stdio.ts';

/** Limits what waits until clients read it. */
export interface ResponseLimit {
  /** Whether so many more bytes may wait until the client reads the response. */
  admits(response: ServerResponse, bytes: number): boolean;
}

/** The HTTP responses that carry the messages of one session. */
export class Responses {
  readonly #limit: ResponseLimit;
  readonly #byRequest = new Map<MessageId, ServerResponse>();
  #stream: ServerResponse | undefined;

  constructor(limit: ResponseLimit) {
    this.#limit = limit;
  }

  follow({ method }: IncomingMessage, response: ServerResponse, body: unknown): void {
    // The transport refuses a second stream.
    if (method === 'GET') this.#stream ??= response;
    const messages = Array.isArray(body) ? body : [body];
    const ids = messages.flatMap((message) => {
      const { success, data } = JSONRPCMessageSchema.safeParse(message);
      return success && 'method' in data && 'id' in data ? [data.id] : [];
    });
    for (const id of ids) this.#byRequest.set(id, response);
    response.once('close', () => {
      if (this.#stream === response) this.#stream = undefined;
      for (const id of ids) {
        if (this.#byRequest.get(id) === response) this.#byRequest.delete(id);
      }
    });
  }

  /** The message to send: the given one, or an error if the client leaves too much unread. */
  admit(message: JSONRPCMessage, related: MessageId | undefined): JSONRPCMessage {
    const answered = 'method' in message ? undefined : message.id;
    const response = this.#byRequest.get(answered ?? related ?? null) ?? this.#stream;
    if (!response || this.#limit.admits(response, JSON.stringify(message).length)) return message;
    if (answered === undefined) {
      // A client that reconnects gets the message from the event log.
      response.destroy();
      return message;
    }
    // An error would say that nothing was committed.
    if ('result' in message && message.result._meta !== undefined) return message;
    const error = errorResponse(null, internalError, 'Too many answers wait to be read.');
    return { ...error, id: answered };
  }
}
