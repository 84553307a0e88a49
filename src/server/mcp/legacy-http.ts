import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { App } from '../../app/app.ts';
import type { Author } from '../../core/memory/session.ts';
import { createServer } from './legacy-server.ts';
import { type ResponseLimit, Responses } from './responses.ts';

/** The settings, limits and callbacks that the HTTP server provides for one MCP client. */
export interface HttpClient extends ResponseLimit {
  /** The messages sent to the client, which a stream that resumes a broken one sends again. */
  readonly events: EventStore;
  /** The limit of a request body, in bytes. */
  readonly maxBytes: number;
  /** The author of its commits; by default the one of git's configuration. */
  readonly author?: Author | undefined;
  /** The only mode that it may use; undefined for any. */
  readonly onlyMode?: string | undefined;
  /** The folders that the client may switch to, in addition to the project that is served. */
  readonly folders: readonly string[];
  /** Called with the session id before the first answer of the session. */
  opened(id: string): void;
  /** Called once, when the session ends. */
  closed(): void;
}

/** The server side of one MCP session over HTTP. */
export interface HttpConnection {
  handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
  /** Ends the stream of messages that belong to no request; answers to requests are still sent. */
  endStream(): void;
  close(): Promise<void>;
}

/** Serves one client over Streamable HTTP; its first request has to be `initialize`. */
export async function connectHttp(
  app: App,
  version: string,
  client: HttpClient,
): Promise<HttpConnection> {
  // A client over stdio does not need this module, so it is loaded on demand.
  const { StreamableHTTPServerTransport } = await import(
    '@modelcontextprotocol/sdk/server/streamableHttp.js'
  );
  const responses = new Responses(client);
  const { server, leave } = createServer(app, version, {
    folders: client.folders,
    author: client.author,
    onlyMode: client.onlyMode,
    admission: ({ requestId, signal }) => responses.admission(requestId, signal),
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: client.opened,
    eventStore: client.events,
    maxRequestBodySize: client.maxBytes,
  });
  server.onclose = () => {
    leave();
    client.closed();
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    responses.track(message, options?.relatedRequestId);
    return send(message, options);
  };
  await server.connect(transport as Transport);
  return {
    handle(request, response, body) {
      responses.follow(request, response, body);
      return transport.handleRequest(request, response, body);
    },
    endStream: () => transport.closeStandaloneSSEStream(),
    close: () => server.close(),
  };
}
