import type { App } from '../../app/app.ts';
import { createServer } from './legacy-server.ts';
import { LineTransport } from './line-transport.ts';
import type { JsonLines } from './stdio.ts';

/** The client of a pair of streams, in revision 2025-11-25 or earlier. */
export interface LegacyLines {
  /** Handles a message, or a list of them. */
  receive(value: unknown): void;
  /** Stops waiting for answers of the client, and resolves when its last call is answered. */
  leave(): Promise<void>;
}

/** Serves the client of a pair of streams with the SDK. */
export async function connectLines(
  app: App,
  lines: JsonLines,
  version: string,
): Promise<LegacyLines> {
  const { server, leave } = createServer(app, version);
  const transport = new LineTransport(lines);
  await server.connect(transport);
  return {
    receive: (value) => transport.receive(value),
    async leave() {
      leave();
      await transport.answered();
      await server.close();
    },
  };
}
