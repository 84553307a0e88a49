import { isObject } from '../../core/values/json.ts';
import { idOf, isModern, type ModernRequest, readRequest } from './modern-request.ts';
import { type ModernServer, refuse } from './modern-server.ts';
import { RpcError } from './rpc-error.ts';
import { invalidRequest, type JsonLines } from './stdio.ts';

/** The requests of revision 2026-07-28 over a pair of streams. */
export class ModernLines {
  readonly #server: ModernServer;
  readonly #lines: JsonLines;
  readonly #running = new Map<string | number, AbortController>();
  readonly #answers = new Set<Promise<void>>();

  constructor(server: ModernServer, lines: JsonLines) {
    this.#server = server;
    this.#lines = lines;
  }

  /** Handles a message of this revision; returns false for a message of an earlier one. */
  receive(message: unknown): boolean {
    if (this.#cancels(message)) return true;
    if (!isModern(message)) return false;
    // A notification has no answer, and this revision has only the one that cancels.
    if (message.id === undefined) return true;
    const answer = this.#answer(message).finally(() => this.#answers.delete(answer));
    this.#answers.add(answer);
    return true;
  }

  /** Ends the subscriptions, and resolves when every request is answered. */
  async leave(): Promise<void> {
    this.#server.leave();
    await Promise.all(this.#answers);
  }

  async #answer(message: unknown): Promise<void> {
    let request: ModernRequest;
    try {
      request = readRequest(message);
      if (this.#running.has(request.id)) {
        throw new RpcError(invalidRequest, 'Another request with this id is not answered yet.');
      }
    } catch (error) {
      return this.#lines.send(refuse(idOf(message), error as RpcError));
    }
    const { id } = request;
    const cancel = new AbortController();
    const { signal } = cancel;
    this.#running.set(id, cancel);
    const response = await this.#server.answer(request, {
      signal,
      caller: '',
      send: (notification) => void (signal.aborted || this.#lines.send(notification)),
    });
    this.#running.delete(id);
    if (response) await this.#lines.send(response);
  }

  /** Cancels the request that a notification names, if it is one of this revision. */
  #cancels(message: unknown): boolean {
    if (!isObject(message) || message.method !== 'notifications/cancelled') return false;
    const id = isObject(message.params) ? idOf({ id: message.params.requestId }) : undefined;
    const running = id === undefined ? undefined : this.#running.get(id);
    running?.abort();
    return running !== undefined;
  }
}
