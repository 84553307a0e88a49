import { once } from 'node:events';
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import cors from 'cors';
import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { App } from '../../app/app.ts';
import type { LogLevel } from '../../core/context.ts';
import { Auth } from './auth.ts';
import { Backlog } from './backlog.ts';
import { chatEndpoint } from './chat.ts';
import { type Endpoint, RestSessions } from './endpoint.ts';
import { jsonBody, ownCookie, sameSite, soundHead, versioned } from './guards.ts';
import { errorBody, HttpError, sendError } from './http-error.ts';
import { type Limits, limitRate } from './limits.ts';
import { McpSessions, refuseBody } from './mcp-sessions.ts';
import { ModernMcp } from './modern-mcp.ts';
import { describeApi } from './openapi.ts';
import { renderPage } from './page.ts';
import {
  metadataPath,
  type OAuthSettings,
  ProtectedResource,
  scopeOf,
} from './protected-resource.ts';
import { memoryBankEndpoints, sessionEndpoints, statusEndpoint } from './rest.ts';

/** The limit of open connections. */
const maxConnections = 1_000;

/** The settings of the HTTP server. */
export interface HttpSettings {
  /** The address to listen on, and the port; 0 for any free one. */
  readonly host: string;
  readonly port: number;
  /** The API keys; undefined lets everybody use the API. */
  readonly keys: readonly string[] | undefined;
  /** The authorization server whose access tokens are also accepted. */
  readonly oauth?: OAuthSettings | undefined;
  /** Further host names that requests may use for this server. */
  readonly hosts: readonly string[];
  /** The origins of the web pages that may send requests. */
  readonly origins: readonly string[];
  /** Absolute paths that MCP clients may switch to, in addition to the project that is served. */
  readonly folders: readonly string[];
  readonly limits: Limits;
  /** The time limits for the head of a request and for all of it, in milliseconds. */
  readonly headTimeout: number;
  readonly requestTimeout: number;
  /** The time limit for reading an answer, in milliseconds. */
  readonly readTimeout: number;
  /** The version of this program. */
  readonly version: string;
  readonly log: (level: LogLevel, message: string) => void;
  /** The name of the session cookie; by default `session_id`. */
  readonly cookie?: string;
}

/** More paths of a server: pages for people, and the operations behind them. */
export interface Face {
  /** The beginning of the paths whose authorized requests are not counted. */
  readonly uncounted: string;
  /** Returns the operations, which need a key or a session. */
  endpoints(app: App, sessions: RestSessions, backlog: Backlog): readonly Endpoint[];
  /** Returns the handler of the pages, which are the same for everybody. */
  pages(auth: Auth): RequestHandler;
  /** Ends the answers that have no end of their own. */
  endStreams(): void;
}

/** A running server. */
export interface HttpServer {
  /** Its URL, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Stops accepting connections, waits for the requests under way, and ends the MCP sessions. */
  close(): Promise<void>;
}

/**
 * Serves the REST API and MCP over HTTP.
 *
 * @throws the error of the operating system if it cannot listen on the address.
 */
export async function listen(app: App, settings: HttpSettings, face?: Face): Promise<HttpServer> {
  const backlog = new Backlog(settings.readTimeout);
  const mcp = new McpSessions(app, settings.version, settings.folders, backlog);
  const modern = new ModernMcp(app, settings.version, settings.folders, backlog);
  const handler = await createApi(app, { mcp, modern }, backlog, settings, face);
  const server = createServer({
    headersTimeout: settings.headTimeout,
    requestTimeout: settings.requestTimeout,
    connectionsCheckingInterval: Math.min(settings.headTimeout, 5_000),
    maxHeaderSize: 16 * 1024,
    // The checks of the API answer a missing Host in its own error format.
    requireHostHeader: false,
  });
  server.maxConnections = maxConnections;
  // Makes room for the next connection.
  server.on('drop', () => server.closeIdleConnections());
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  let closing = false;
  const onRequest = backlog.inTurn((request, response) => {
    // A connection that is kept alive would prevent the server from closing.
    response.once('close', () => closing && server.closeIdleConnections());
    unused.delete(request.socket);
    handler(request, response);
  });
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', refuseUnreadable);
  const { host, port } = settings;
  // Clients above the size of the system's queue would retry after a second or more.
  server.listen({ host, port, backlog: maxConnections });
  await once(server, 'listening');
  return {
    url: urlOf(server),
    async close() {
      closing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // Clients open connections in advance, which count as neither idle nor done.
      for (const socket of unused) if (socket.bytesRead === 0) socket.destroy();
      mcp.endStreams();
      modern.endStreams();
      face?.endStreams();
      await closed;
      await mcp.close();
    },
  };
}

/** Builds the handler of all requests; its checks run in the order in which they are added. */
async function createApi(
  app: App,
  { mcp, modern }: { readonly mcp: McpSessions; readonly modern: ModernMcp },
  backlog: Backlog,
  settings: HttpSettings,
  face: Face | undefined,
): Promise<Express> {
  const { hosts, origins, limits, log } = settings;
  const resource = settings.oauth && new ProtectedResource(settings.oauth);
  const auth = new Auth(settings.keys, resource, settings.cookie);
  const sessions = new RestSessions(app);
  const toolEndpoints = await memoryBankEndpoints(app, sessions, backlog);
  const endpoints = [
    statusEndpoint(app),
    ...toolEndpoints,
    ...(toolEndpoints.length > 0 ? [chatEndpoint(app)] : []),
    ...sessionEndpoints(auth),
    ...(face?.endpoints(app, sessions, backlog) ?? []),
  ];
  const api = express();
  api.disable('etag').disable('x-powered-by').set('query parser', false);
  api.use(headers);
  if (origins.length > 0) api.use(crossOrigin(origins));
  api.use(auth.identify());
  const isUncounted = (path: string) =>
    path === '/mcp' || (face !== undefined && path.startsWith(face.uncounted));
  api.use(limitRate(limits, isUncounted));
  api.use(soundHead, sameSite(settings.host, hosts, origins));
  const access = [auth.authorized, ownCookie(origins)];
  if (resource) api.get([metadataPath, `${metadataPath}/mcp`], resource.metadata);
  api.all('/mcp', access, modern.check, mcp.find);
  api.post('/mcp', jsonBody, refuseBody);
  const scoped: express.RequestHandler = async (request, response, next) => {
    auth.require(await scopeOf(app, request), response);
    next();
  };
  api.all('/mcp', scoped, modern.handle, mcp.handle);
  api.use(versioned);
  const description = describeApi(endpoints);
  const page = renderPage(description);
  api.get('/openapi.json', (_, response) => void response.json(description));
  api.get('/', (_, response) => response.redirect('/docs'));
  api.get('/docs', (_, response) => void response.type('html').send(page));
  if (face) api.use(face.pages(auth));
  addRoutes(
    api,
    endpoints.filter(({ open }) => open),
    auth,
  );
  api.use(access);
  addRoutes(
    api,
    endpoints.filter(({ open }) => !open),
    auth,
  );
  api.use(() => {
    throw new HttpError(404, 'There is no such path. /openapi.json lists the paths.');
  });
  // Express recognizes an error handler by its four parameters.
  api.use(((error, request, response, _next) => {
    sendError(error, request, response, log);
  }) satisfies express.ErrorRequestHandler);
  return api;
}

const headers = [
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'unsafe-inline'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
      },
    },
    // The proxy that adds TLS sets this header.
    strictTransportSecurity: false,
  }),
  ((_request, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  }) satisfies RequestHandler,
];

function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins],
    credentials: true,
    maxAge: 600,
    exposedHeaders: [
      'Mcp-Session-Id',
      'Retry-After',
      'X-API-Version',
      'X-Memory-Branch',
      'X-Memory-Commit',
      'X-Memory-Warning',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
    ],
  });
}

function addRoutes(api: Express, endpoints: readonly Endpoint[], auth: Auth): void {
  const paths = [...new Set(endpoints.map(({ path }) => path))];
  for (const path of paths) {
    const route = api.route(path.replace(/\{(\w+)\}/g, '*$1'));
    const ofPath = endpoints.filter((endpoint) => endpoint.path === path);
    for (const { method, open, commits, handle } of ofPath) {
      const before = method === 'post' ? jsonBody : [];
      route[method](...before, (request, response) => {
        if (!open) auth.require(commits ? 'memory:write' : 'memory:read', response);
        return handle(request, response);
      });
    }
    const allow = ofPath.map(({ method }) => method.toUpperCase()).join(', ');
    route.all(() => {
      throw new HttpError(405, `This path allows ${allow} only.`, { Allow: allow });
    });
  }
}

/** Answers a request that is not valid HTTP, or is not complete in time. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = unreadable.get(error.code ?? '') ?? 400;
  const body = JSON.stringify(errorBody(status, 'The request cannot be read.'));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const unreadable = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
