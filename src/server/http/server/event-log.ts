/** The limits of the log of one session: events, and bytes of their messages. */
const maxEvents = 500;
const maxBytes = 1024 * 1024;

interface Event<M> {
  readonly id: string;
  readonly stream: string;
  readonly message: M;
  readonly bytes: number;
}

/**
 * The last messages sent in one MCP session.
 *
 * A client whose stream broke names the last event that it received, and gets the later ones.
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

  /** Returns the stream of an event; undefined for an unknown event, or one no longer kept. */
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
      // The first event of a stream has an empty message: it only names the stream.
      if (event.stream !== stream || Object.keys(event.message).length === 0) continue;
      await send(event.id, event.message);
    }
    return stream;
  }
}
