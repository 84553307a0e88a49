import type { IncomingMessage, ServerResponse } from 'node:http';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Admission } from '../../app/session/call-context.ts';
import type { MessageId } from './stdio.ts';

/** Limits what waits until clients read it. */
export interface ResponseLimit {
  /** Returns the admission of the calls that are answered in a response. */
  admission(response: ServerResponse | undefined, signal: AbortSignal): Admission;
  /** Counts bytes sent in a response until the client reads them; whether they are within the limit. */
  track(response: ServerResponse, bytes: number): boolean;
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

  /** Returns the admission of the call of a request. */
  admission(id: MessageId, signal: AbortSignal): Admission {
    return this.#limit.admission(this.#byRequest.get(id), signal);
  }

  /** Counts a message that is about to be sent. */
  track(message: JSONRPCMessage, related: MessageId | undefined): void {
    const answered = 'method' in message ? undefined : message.id;
    const response = this.#byRequest.get(answered ?? related ?? null) ?? this.#stream;
    if (!response || this.#limit.track(response, JSON.stringify(message).length)) return;
    // An answer is always sent, because its call was admitted. A notification is not: a client that
    // reconnects gets it from the event log.
    if (answered === undefined) response.destroy();
  }
}
