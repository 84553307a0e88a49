import { once } from 'node:events';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import cors from 'cors';
import express, { type RequestHandler } from 'express';
import helmet from 'helmet';
import type { App } from '../../app/app.ts';
import { Auth } from './auth/auth.ts';
import { LoginSessions } from './auth/login-sessions.ts';
import { enter, Projects, projectOf, type ServedProject } from './auth/projects.ts';
import { metadataPaths, ProtectedResource } from './auth/protected-resource.ts';
import { SignIn } from './auth/sign-in.ts';
import { operationRoutes } from './rest/operation-routes.ts';
import { createRoutes, type ProjectRoutes } from './rest/project-routes.ts';
import { metricsEndpoint, probeEndpoints, projectsEndpoint } from './rest/server-endpoints.ts';
import type { Face, HttpSettings } from './rest/settings.ts';
import { Backlog } from './server/backlog.ts';
import { Connections } from './server/connections.ts';
import { expressListener, messagesOf } from './server/express-listener.ts';
import { jsonBody, ownCookie, sameSite, soundHead } from './server/guards.ts';
import { errorBody, sendError } from './server/http-error.ts';
import { limitsOf } from './server/limits.ts';
import { limitRate, type UncountedRequest } from './server/rate-limit.ts';
import { sequence } from './server/sequence.ts';
import { refuseBody } from './sessions/mcp-sessions.ts';
import { ProjectChoice } from './sessions/project-choice.ts';

/** The limit of open connections. */
export const maxConnections = 1_000;

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
 * @param app the program; only its projects are served if the settings name some.
 * @throws the error of the operating system if it cannot listen on the address.
 */
export async function listen(app: App, settings: HttpSettings, face?: Face): Promise<HttpServer> {
  const backlog = new Backlog(settings.readTimeout);
  const projects = new Projects(app, settings.projects ?? []);
  const { api, endStreams, close } = await createApi(projects, backlog, settings, face);
  const server = createServer({
    ...messagesOf(express().disable('etag').set('query parser', false)),
    headersTimeout: settings.headTimeout,
    requestTimeout: settings.requestTimeout,
    connectionsCheckingInterval: Math.min(settings.headTimeout, 5_000),
    maxHeaderSize: 16 * 1024,
    // The checks of the API answer a missing Host in its own error format.
    requireHostHeader: false,
  });
  const connections = new Connections(settings.maxConnections ?? maxConnections);
  connections.follow(server);
  let closing = false;
  // A connection that is kept alive would prevent the server from closing.
  const closeIdle = () => closing && server.closeIdleConnections();
  const onRequest = backlog.inTurn((request, response) => {
    response.on('close', closeIdle);
    connections.use(request, response);
    if (closing) refuseLate(request, response);
    else api(request, response);
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
      // Clients open connections in advance.
      connections.closeUnused();
      endStreams();
      await closed;
      await close();
    },
  };
}

/** Builds the handler of all requests; its checks run in the order in which they are added. */
async function createApi(
  projects: Projects,
  backlog: Backlog,
  settings: HttpSettings,
  face: Face | undefined,
) {
  const { hosts, origins, limits, log } = settings;
  const metrics = settings.metrics ? new (await import('./rest/metrics.ts')).Metrics() : undefined;
  const probes = probeEndpoints(projects);
  const ofServer = [
    ...(projects.areNamed ? [projectsEndpoint(projects)] : []),
    ...(metrics ? [metricsEndpoint(metrics)] : []),
  ];
  const resource = settings.oauth && new ProtectedResource(settings.oauth);
  const auth = new Auth({
    keys: settings.keys,
    personKeys: settings.personKeys ?? [],
    tokens: resource,
    sessions: new LoginSessions(settings.publicUrl, settings.cookie),
  });
  const { oauth } = settings;
  const signIn = oauth && resource && SignIn.of({ oauth, resource, auth, projects, log });
  const ofSeveral = projects.areNamed;
  const served = new Map<ServedProject, ProjectRoutes>();
  for (const project of projects.all) {
    const shared = { auth, backlog, settings, face, signIn, ofServer: [...probes, ...ofServer] };
    served.set(project, await createRoutes(project, shared));
  }
  metrics?.follow([...served].map(([project, { mcp }]) => ({ project, sessions: () => mcp.size })));
  const routesOf: RoutesOf = (response) => {
    const routes = served.get(projectOf(response));
    if (!routes) throw new Error('The project is not one of this server.');
    return routes;
  };
  const isUncounted = ({ method, path }: UncountedRequest, isAuthorized: boolean) => {
    // Each page that a person loads has several files, which are the same for everybody.
    if (face && method === 'GET' && face.isPage(path)) return true;
    const uncounted = path === '/mcp' || path === '/metrics';
    return isAuthorized && (uncounted || (face?.isOperation(path) ?? false));
  };
  const access = [auth.authorized, ownCookie(origins)];
  const handlers = [
    ...(metrics ? [metrics.countRequest] : []),
    headers,
    operationRoutes(probes, auth, { ofSeveral }),
    ...(origins.length > 0 ? [crossOrigin(origins)] : []),
    ...(ofSeveral ? [enterProjects(projects)] : []),
    ...auth.identify(),
    projects.usual,
    limitRate(limits, isUncounted),
    soundHead,
    sameSite(settings.host, hosts, origins),
    ...(resource ? [describeResources(resource, projects)] : []),
    ...(ofSeveral ? [namedRoutes(projects, auth, routesOf)] : []),
    operationRoutes(ofServer, auth, { ofSeveral, checks: access }),
    ...(ofSeveral ? [chooseProject(projects, served, limits, access)] : []),
    ((request, response, next) =>
      routesOf(response).handle(request, response, next)) satisfies RequestHandler,
  ];
  const api = expressListener(sequence(handlers), (error, request, response) => {
    sendError(error, request, response, log);
  });
  const all = [...served.values()];
  return {
    api,
    endStreams() {
      for (const { mcp, modern } of all) {
        mcp.endStreams();
        modern.endStreams();
      }
      face?.endStreams();
    },
    close: () => Promise.all(all.map(({ mcp }) => mcp.close())),
  };
}

/** Returns the routes of the projects of a response. */
type RoutesOf = (response: express.Response) => ProjectRoutes;

/** Sets the project that the path of a request names. */
function enterProjects(projects: Projects): RequestHandler {
  const router = express.Router();
  for (const project of projects.all) router.use(project.path, enter(project));
  return router;
}

/** Passes the requests below the path of a project to its routes. */
function namedRoutes(projects: Projects, auth: Auth, routesOf: RoutesOf): RequestHandler {
  const router = express.Router();
  for (const project of projects.all) {
    router.use(project.path, (...args) => routesOf(args[1]).handle(...args));
  }
  router.use('/p', auth.authorized, projects.refuseUnknown);
  return router;
}

/** Answers with the descriptions of the protected resources. */
function describeResources(resource: ProtectedResource, projects: Projects): RequestHandler {
  const router = express.Router();
  router.get(metadataPaths(''), resource.metadata('', projects.all));
  for (const project of projects.all) {
    const { path } = project;
    if (path !== '') router.get(metadataPaths(path), resource.metadata(path, [project]));
  }
  return router;
}

/** Chooses the project of MCP requests to `/mcp`. */
function chooseProject(
  projects: Projects,
  served: ReadonlyMap<ServedProject, ProjectRoutes>,
  limits: HttpSettings['limits'],
  access: RequestHandler[],
): RequestHandler {
  const router = express.Router();
  const anyBody = jsonBody(
    Math.max(...projects.all.map((project) => limitsOf(project, limits).body)),
  );
  const choice = new ProjectChoice(projects, (project) => served.get(project)?.modern);
  router.post('/mcp', access, choice.onlyModern, anyBody, choice.choose, refuseBody);
  return router;
}

const noStore = ['cache-control', 'no-store'] as const;

/** The headers of every answer. */
const fixedHeaders = headersOf(
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
    // For browsers and plugins of the past; each header of each answer costs time.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  }),
);

const headers: RequestHandler = (_request, response, next) => {
  for (const [name, value] of fixedHeaders) response.setHeader(name, value);
  next();
};

/** Returns the headers that a handler sets, which are the same for every request. */
function headersOf(handle: ReturnType<typeof helmet>): ReadonlyMap<string, string> {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  handle(response.req, response, () => {});
  const set = Object.entries(response.getHeaders());
  return new Map([...set.map(([name, value]) => [name, String(value)] as const), noStore]);
}

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

/** Answers a request that arrives on an open connection while the server stops. */
const refuseLate: RequestListener = (_request, response) => {
  const body = JSON.stringify(errorBody(503, 'The server is stopping; nothing was done.'));
  const type = 'application/json; charset=utf-8';
  response.writeHead(503, { 'Content-Type': type, Connection: 'close', 'Retry-After': '10' });
  response.end(body);
};

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
