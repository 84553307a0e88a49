import type { Response } from 'express';
import { jsonText } from '../../../core/values/json.ts';
import type { Backlog } from './backlog.ts';

/** The pause after which an open response shows that it is alive, in milliseconds. */
const keepAlive = 15_000;

/** The response to one message: JSON, or a stream of events as soon as something precedes the answer. */
export class ResponseStream {
  readonly #response: Response;
  readonly #backlog: Backlog;
  readonly #timer: NodeJS.Timeout;

  constructor(response: Response, backlog: Backlog) {
    this.#response = response;
    this.#backlog = backlog;
    // A comment, which clients skip; proxies close a connection on which nothing is sent.
    this.#timer = setInterval(() => this.#write(':\n\n'), keepAlive);
    response.once('close', () => clearInterval(this.#timer));
  }

  /** Sends a message before the answer; a client that does not read loses the response. */
  send(message: object): void {
    const event = toEvent(message);
    if (this.#backlog.track(this.#response, event.length)) this.#write(event);
    else this.#response.destroy();
  }

  /** @param status used if nothing was sent before the answer. */
  end(answer: object, status: number): void {
    clearInterval(this.#timer);
    if (this.#response.headersSent) this.#response.end(toEvent(answer));
    else this.#response.status(status).json(answer);
  }

  #write(text: string): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (!response.headersSent) {
      response.setHeader('Content-Type', 'text/event-stream');
      // A proxy would otherwise collect the events.
      response.setHeader('X-Accel-Buffering', 'no');
      this.#backlog.follow(response);
    }
    response.write(text);
  }
}

function toEvent(message: object): string {
  return `event: message\ndata: ${jsonText(message)}\n\n`;
}
