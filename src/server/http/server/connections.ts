import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ipKeyGenerator } from 'express-rate-limit';

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** The number of requests whose answer is not complete. */
  requests: number;
}

/**
 * The open connections of a server, up to a limit.
 *
 * Above the limit, the address with the most connections loses the one that was idle for longest. So an
 * address cannot shut out the others by connections that it does not use.
 */
export class Connections {
  readonly #limit: number;
  /** The one that was used last is the last. */
  readonly #open = new Map<Socket, Connection>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Follows the connections of a server. */
  follow(server: Server): void {
    // The server itself would refuse the newest connection, whatever fills it.
    server.maxConnections = 2 * this.#limit;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  /** Counts a request as under way until its answer is complete. */
  use({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    connection.requests += 1;
    response.once('close', () => {
      connection.requests -= 1;
      // Moved to the end, as the one that was used last.
      if (this.#open.delete(socket)) this.#open.set(socket, connection);
    });
  }

  /** Closes the connections that have sent nothing yet, which count as neither idle nor in use. */
  closeUnused(): void {
    for (const socket of this.#open.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  #add(socket: Socket): void {
    // All IPv6 addresses of one customer count as one.
    const address = ipKeyGenerator(socket.remoteAddress ?? '');
    this.#open.set(socket, { socket, address, requests: 0 });
    socket.once('close', () => this.#open.delete(socket));
    if (this.#open.size > this.#limit) this.#makeRoom(socket);
  }

  /** Closes an idle connection, of the address with the most; without one, the newest connection. */
  #makeRoom(newest: Socket): void {
    const counts = new Map<string, number>();
    for (const { address } of this.#open.values()) {
      counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    const countOf = ({ address }: Connection) => counts.get(address) ?? 0;
    const idle = [...this.#open.values()].filter(({ requests }) => requests === 0);
    const [victim] = idle.sort((a, b) => countOf(b) - countOf(a));
    (victim?.socket ?? newest).destroy();
  }
}
