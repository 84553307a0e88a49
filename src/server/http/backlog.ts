import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import { HttpError } from './http-error.ts';

/** The size up to which an answer is always sent, in bytes: every error and every commit fits. */
const smallAnswer = 16 * 1024;

/** The limit of what waits for the reader of one stream, in bytes. */
const maxStreamBytes = 16 * 1024 * 1024;

/** The limit of what waits for all readers together, in bytes. */
const maxWaitingBytes = 64 * 1024 * 1024;

/** Pipelined requests from which on a connection is not read. */
const pauseAt = 16;

/** Pipelined requests of one connection; a single read can bring more than `pauseAt`. */
const maxPipelined = 1_000;

/** Reads of all connections that are worked on at once; more would each hold an answer. */
const maxReads = 2;

/** The longest time after a read before the next one takes its place, in milliseconds. */
const maxPause = 100;

/** Seconds after which a refused caller may retry. */
const retryAfter = '10';

/** The bytes that were handed to a response whose writer waits for the socket. */
interface Stream {
  readonly socket: Socket;
  /** `bytesWritten` of the socket when the response began. */
  readonly start: number;
  sent: number;
}

/** The answers that clients have not read yet, of all connections of a server. */
export class Backlog {
  readonly #readTimeout: number;
  readonly #queues = new Map<Socket, (() => void)[]>();
  readonly #streams = new Map<ServerResponse, Stream>();
  /** The reads that wait for their turn, in their order. */
  readonly #reads = new Set<() => void>();
  #reading = 0;

  /** @param readTimeout how long a client may leave an answer unread, in milliseconds. */
  constructor(readTimeout: number) {
    this.#readTimeout = readTimeout;
  }

  /**
   * Calls a handler for one request of a connection at a time, in their order.
   *
   * A client that pipelines requests and does not read would otherwise fill the memory with answers.
   */
  inTurn(handle: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      const start = () => {
        response.once('close', () => this.#next(socket));
        // The timeout of the answer before this one would go on.
        socket.setTimeout(0);
        // Set at the end of the answer, because a slow tool is not the fault of the client.
        response.once('prefinish', () => response.setTimeout(this.#readTimeout));
        handle(request, response);
      };
      const queue = this.#queues.get(socket);
      if (!queue) {
        this.#queues.set(socket, []);
        start();
        return;
      }
      queue.push(start);
      if (queue.length >= pauseAt) socket.pause();
      if (queue.length > maxPipelined) socket.destroy();
    };
  }

  /**
   * Starts few reads at a time, in their order; a connection has at most one of them waiting.
   *
   * Many at once would each make a large answer before the first of them is counted, and would
   * leave the event loop no time for other requests.
   */
  readonly queueRead: RequestHandler = (_request, response, next) => {
    const start = () => {
      this.#reading += 1;
      const began = performance.now();
      let ended = false;
      const end = () => {
        if (ended) return;
        ended = true;
        // The event loop accepts one connection per turn, and a turn with large answers is long:
        // two thirds of the time are for turns without one.
        const pause = Math.min(maxPause, 2 * maxReads * (performance.now() - began));
        setTimeout(() => {
          this.#reading -= 1;
          this.#startReads();
        }, pause);
      };
      response.once('prefinish', end).once('close', end);
      next();
    };
    this.#reads.add(start);
    response.once('close', () => this.#reads.delete(start));
    this.#startReads();
  };

  /** Refuses a large answer where too many wait already. */
  readonly guard: RequestHandler = (_request, response, next) => {
    const send = response.send.bind(response);
    response.send = (body) => {
      const bytes = typeof body === 'string' ? body.length : 0;
      // An error would say that nothing was committed.
      if (!response.hasHeader('X-Memory-Commit') && !this.admits(response, bytes)) throw full();
      return send(body);
    };
    next();
  };

  /** Counts what `admits` takes for a response until the socket has taken it. */
  follow(response: ServerResponse): void {
    const { socket } = response;
    if (!socket) return;
    this.#streams.set(response, { socket, start: socket.bytesWritten, sent: 0 });
    response.once('close', () => this.#streams.delete(response));
    // The stream is written to every 15 seconds at the latest.
    response.setTimeout(Math.max(this.#readTimeout, 30_000));
  }

  /** Whether so many more bytes may wait for the reader of a response; counts them if so. */
  admits(response: ServerResponse, bytes: number): boolean {
    const stream = this.#streams.get(response);
    const own = stream ? queued(stream) + stream.socket.writableLength : 0;
    if (own + bytes > maxStreamBytes && stream) return false;
    if (bytes > smallAnswer && this.#waiting() + bytes > maxWaitingBytes) return false;
    // The frames of a stream are not counted when they are sent, but when they are written.
    if (stream) stream.sent = stream.socket.bytesWritten - stream.start + queued(stream) + bytes;
    return true;
  }

  #startReads(): void {
    for (const start of this.#reads) {
      if (this.#reading >= maxReads) return;
      this.#reads.delete(start);
      start();
    }
  }

  #waiting(): number {
    let bytes = 0;
    for (const socket of this.#queues.keys()) bytes += socket.writableLength;
    for (const stream of this.#streams.values()) bytes += queued(stream);
    return bytes;
  }

  #next(socket: Socket): void {
    const queue = this.#queues.get(socket);
    const start = socket.destroyed ? undefined : queue?.shift();
    if (!queue || !start) {
      this.#queues.delete(socket);
      return;
    }
    if (queue.length < pauseAt && socket.isPaused()) socket.resume();
    start();
  }
}

/** What was sent to a stream and not yet written to its socket, in bytes. */
function queued({ socket, start, sent }: Stream): number {
  return Math.max(0, start + sent - socket.bytesWritten);
}

function full(): HttpError {
  return new HttpError(503, 'Too many answers wait to be read; retry later.', {
    'Retry-After': retryAfter,
  });
}
