/** At most this many events and bytes of them are kept of one session. */
const maxEvents = 500;
const maxBytes = 1024 * 1024;

interface Event<M> {
  readonly id: string;
  readonly stream: string;
  readonly message: M;
  readonly bytes: number;
}

/**
 * The last messages that one MCP session was sent: a client whose stream broke off names the last event
 * that it saw, and is sent the ones after it.
 */
export class EventLog<M extends object> {
  readonly #events: Event<M>[] = [];
  #bytes = 0;
  #count = 0;

  async storeEvent(stream: string, message: M): Promise<string> {
    this.#count += 1;
    const bytes = JSON.stringify(message).length;
    const event = { id: `${this.#count}`, stream, message, bytes };
    this.#events.push(event);
    this.#bytes += bytes;
    while (this.#events.length > maxEvents || this.#bytes > maxBytes) {
      this.#bytes -= this.#events.shift()?.bytes ?? this.#bytes;
    }
    return event.id;
  }

  /** The stream of an event; undefined for one that is not kept, or not any more. */
  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.stream;
  }

  async replayEventsAfter(
    last: string,
    { send }: { send(id: string, message: M): Promise<void> },
  ): Promise<string> {
    const seen = this.#events.findIndex((event) => event.id === last);
    const stream = this.#events[seen]?.stream ?? '';
    for (const event of this.#events.slice(seen + 1)) {
      // The first event of a stream has no message: it only names the stream.
      if (event.stream !== stream || Object.keys(event.message).length === 0) continue;
      await send(event.id, event.message);
    }
    return stream;
  }
}
