import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Admission } from '../../../app/session/call-context.ts';
import { CoalescedRun } from '../../../core/timing/coalesced-run.ts';
import { MicrotaskMemo } from '../../../core/timing/microtask-memo.ts';
import { MemoryError } from '../../../core/values/error.ts';

/** The limit of unread bytes of one connection: above it, no call of it begins. */
export const maxStreamBytes = 16 * 1024 * 1024;

/** The limit of unread bytes of all connections: above it, no read begins. */
export const maxWaitingBytes = 64 * 1024 * 1024;

/** The limit of unread bytes above which no change begins; higher, so that reads cannot block it. */
export const maxWaitingForChanges = 128 * 1024 * 1024;

/** The number of pipelined requests at which the server pauses reading a connection. */
const pauseAt = 16;

/** The limit of pipelined requests of one connection; one read can bring more than `pauseAt`. */
export const maxPipelined = 1_000;

/** The number of reads that run concurrently; each can produce a large answer. */
const maxReads = 2;

/**
 * The number to which it grows while all reads are light. Reads that begin together share their look
 * at the disk.
 */
const maxLightReads = 32;

/** The time after which a slow read frees its slot for the next one, in milliseconds. */
const maxHold = 1_000;

/** The limit of the pause after a read, in milliseconds. */
const maxPause = 100;

/** The limits of a read without a pause after it: bytes of its answer, and milliseconds. */
const lightBytes = 64 * 1024;
const lightTime = 50;

/** The bytes given to a response that writes them only as the socket takes them. */
interface Stream {
  readonly socket: Socket;
  /** `bytesWritten` of the socket when the response began. */
  readonly start: number;
  sent: number;
}

/** A read that holds a slot. */
interface Hold {
  readonly socket: Socket | null | undefined;
  /** `bytesWritten` of the socket when the read began. */
  readonly before: number;
  readonly began: number;
  /** The reads that began with it. */
  readonly batch: Batch;
  /** Whether its slot is free again. */
  isFree: boolean;
}

/** Reads that began together. */
interface Batch {
  readonly holds: Hold[];
  /** The number of them that hold a slot. */
  holding: number;
  /** Frees the slots of slow ones. */
  expiry: NodeJS.Timeout | undefined;
}

/** Bounds the unread answers of all connections of a server, and the reads that run at a time. */
export class Backlog {
  readonly #readTimeout: number;
  readonly #queues = new Map<Socket, (() => void)[]>();
  readonly #streams = new Map<ServerResponse, Stream>();
  /** The reads that wait for a slot, in their order. */
  readonly #reads = new Set<(batch: Batch) => void>();
  /** The reads that have ended in this turn of the event loop. */
  #ended: Hold[] = [];
  /**
   * Settles in the next turn of the event loop: then the answers are sent, and so counted, and the
   * reads that arrive in this turn begin together.
   */
  readonly #settling = new CoalescedRun(async () => {
    const ended = this.#ended;
    this.#ended = [];
    for (const hold of ended) this.#settle(hold);
    this.#startReads();
  });
  #reading = 0;
  /** The number of reads that may run concurrently now. */
  #allowed = maxReads;
  readonly #unreadNow = new MicrotaskMemo<number>();

  /** @param readTimeout the time limit for reading an answer, in milliseconds. */
  constructor(readTimeout: number) {
    this.#readTimeout = readTimeout;
  }

  /**
   * Wraps a handler so that each connection has one request under way at a time, in their order.
   *
   * A client that pipelines requests and does not read would otherwise fill the memory with answers.
   */
  inTurn(handle: RequestListener): RequestListener {
    // The same functions for all responses, because each request would create its own.
    const next = this.#next.bind(this);
    const onClose = function (this: ServerResponse) {
      next(this.req.socket);
    };
    const readTimeout = this.#readTimeout;
    const onComplete = function (this: ServerResponse) {
      this.setTimeout(readTimeout);
    };
    const start: RequestListener = (request, response) => {
      response.on('close', onClose);
      // Otherwise the timeout of the previous answer would continue.
      request.socket.setTimeout(0);
      // Set when the answer is complete, because a slow tool is not the fault of the client.
      response.on('prefinish', onComplete);
      handle(request, response);
    };
    return (request, response) => {
      const { socket } = request;
      const queue = this.#queues.get(socket);
      if (!queue) {
        this.#queues.set(socket, []);
        start(request, response);
        return;
      }
      queue.push(() => start(request, response));
      if (queue.length >= pauseAt) socket.pause();
      if (queue.length > maxPipelined) socket.destroy();
    };
  }

  /**
   * Returns the admission of the calls that are answered in a response.
   *
   * Few reads run at a time, in their order: many at once would each make a large answer before the
   * first of them is counted, and would leave the event loop no time for other requests. A call is
   * refused before it begins while too many answers are unread, so an error means that nothing was
   * done.
   *
   * @param response undefined if the client has disconnected.
   * @param signal ends the wait of a read that is cancelled.
   */
  admission(response: ServerResponse | undefined, signal: AbortSignal): Admission {
    return async (effect, work) => {
      if (effect !== 'read') {
        this.#check(response, maxWaitingForChanges);
        return work();
      }
      const release = await this.#takeSlot(response?.socket, signal);
      try {
        this.#check(response, maxWaitingBytes);
        return await work();
      } finally {
        release();
      }
    };
  }

  /** Counts what `track` gets for a response until the socket has taken it. */
  follow(response: ServerResponse): void {
    const { socket } = response;
    if (!socket) return;
    this.#streams.set(response, { socket, start: socket.bytesWritten, sent: 0 });
    response.once('close', () => this.#streams.delete(response));
    // The server writes to the stream every 15 seconds at the latest.
    response.setTimeout(Math.max(this.#readTimeout, 30_000));
  }

  /** Counts bytes sent in a followed response; returns whether they are within its limit. */
  track(response: ServerResponse, bytes: number): boolean {
    const stream = this.#streams.get(response);
    if (!stream) return true;
    // The frames of a stream are not counted when they are sent, but when they are written.
    stream.sent = stream.socket.bytesWritten - stream.start + queued(stream) + bytes;
    return this.#unread(response) <= maxStreamBytes;
  }

  /** @throws MemoryError `busy` if the client of the response, or all together, leave too much unread. */
  #check(response: ServerResponse | undefined, limit: number): void {
    const own = response ? this.#unread(response) : 0;
    const all = this.#unreadNow.get(() => this.#waiting());
    if (own <= maxStreamBytes && all <= limit) return;
    throw new MemoryError('busy', 'Too many answers wait to be read.', {
      hint: 'Read the answers to earlier calls, or retry later.',
    });
  }

  /** Waits for a free slot; the returned function frees it again. */
  #takeSlot(socket: Socket | null | undefined, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const start = (batch: Batch) => {
        if (signal.aborted) return reject(signal.reason);
        const before = socket?.bytesWritten ?? 0;
        const hold = { socket, before, began: performance.now(), batch, isFree: false };
        batch.holds.push(hold);
        resolve(() => {
          this.#ended.push(hold);
          this.#settling.run();
        });
      };
      // A cancelled read leaves the queue in its turn: a listener for each one would cost more.
      this.#reads.add(start);
      this.#settling.run();
    });
  }

  #settle(hold: Hold): void {
    const time = performance.now() - hold.began;
    // With what waits for the socket.
    const bytes = (hold.socket?.bytesWritten ?? 0) - hold.before;
    const isLight = bytes <= lightBytes && time <= lightTime;
    this.#allowed = isLight ? Math.min(maxLightReads, this.#allowed + 1) : maxReads;
    if (isLight) {
      this.#free(hold);
      return;
    }
    // The event loop accepts one connection per turn, and a turn with large answers is long:
    // two thirds of the time are for turns without one.
    setTimeout(() => this.#freeAll([hold]), Math.min(maxPause, 2 * maxReads * time));
  }

  #free(hold: Hold): void {
    if (hold.isFree) return;
    hold.isFree = true;
    this.#reading -= 1;
    hold.batch.holding -= 1;
    if (hold.batch.holding === 0) clearTimeout(hold.batch.expiry);
  }

  #freeAll(holds: readonly Hold[]): void {
    for (const hold of holds) this.#free(hold);
    this.#startReads();
  }

  #startReads(): void {
    const batch: Batch = { holds: [], holding: 0, expiry: undefined };
    for (const start of this.#reads) {
      if (this.#reading >= this.#allowed) break;
      this.#reads.delete(start);
      start(batch);
      this.#reading += batch.holds.length - batch.holding;
      batch.holding = batch.holds.length;
    }
    const { holds } = batch;
    if (holds.length > 0) batch.expiry = setTimeout(() => this.#freeAll(holds), maxHold).unref();
  }

  /** Returns the unread bytes of the connection of a response. */
  #unread(response: ServerResponse): number {
    const stream = this.#streams.get(response);
    return (response.socket?.writableLength ?? 0) + (stream ? queued(stream) : 0);
  }

  /** Returns the unread bytes of all connections. */
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

/** Returns the bytes sent to a stream and not yet written to its socket. */
function queued({ socket, start, sent }: Stream): number {
  return Math.max(0, start + sent - socket.bytesWritten);
}
