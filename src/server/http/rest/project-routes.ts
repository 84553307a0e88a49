import express, { type RequestHandler, type Router } from 'express';
import type { Auth } from '../auth/auth.ts';
import { projectOf, type ServedProject } from '../auth/projects.ts';
import { scopeOf } from '../auth/protected-resource.ts';
import { accessTo, pathOf } from '../auth/route-access.ts';
import type { SignIn } from '../auth/sign-in.ts';
import { signInEndpoints } from '../auth/sign-in-endpoints.ts';
import type { Backlog } from '../server/backlog.ts';
import { type Endpoint, RestSessions } from '../server/endpoint.ts';
import { jsonBody, ownCookie, versioned } from '../server/guards.ts';
import { HttpError } from '../server/http-error.ts';
import { limitsOf } from '../server/limits.ts';
import { sequence } from '../server/sequence.ts';
import { McpSessions, refuseBody } from '../sessions/mcp-sessions.ts';
import { ModernMcp } from '../sessions/modern-mcp.ts';
import { chatEndpoint } from './chat.ts';
import { describeApi } from './openapi.ts';
import { operationRoutes } from './operation-routes.ts';
import { renderPage } from './page.ts';
import { briefEndpoints, memoryBankEndpoints, sessionEndpoints, statusEndpoint } from './rest.ts';
import type { Face, HttpSettings } from './settings.ts';

/** The parts that the projects of a server have in common. */
interface Shared {
  readonly auth: Auth;
  readonly backlog: Backlog;
  readonly settings: HttpSettings;
  readonly face: Face | undefined;
  /** Signs people in by the issuer; undefined where that is not configured. */
  readonly signIn: SignIn | undefined;
  /** The operations of the whole server, which the description of each project also names. */
  readonly ofServer: readonly Endpoint[];
}

/** The REST API, MCP and the pages of one project. */
export interface ProjectRoutes {
  readonly handle: RequestHandler;
  readonly mcp: McpSessions;
  readonly modern: ModernMcp;
}

/** Sets the path under which requests are counted. */
function named(path: string): RequestHandler {
  return (_request, response, next) => {
    response.locals.route = path;
    next();
  };
}

/** Returns a handler that passes only the requests to some paths, or below them, to a router. */
function below(paths: readonly string[], router: Router): RequestHandler {
  const first = new Set(paths.map((path) => path.slice(1)));
  return (request, response, next) => {
    const { path } = request;
    const end = path.indexOf('/', 1);
    const name = path.slice(1, end < 0 ? undefined : end).toLowerCase();
    if (first.has(name)) router(request, response, next);
    else next();
  };
}

/** Builds the handler of the requests to one project; they have passed the checks of the server. */
export async function createRoutes(project: ServedProject, shared: Shared): Promise<ProjectRoutes> {
  const { app, path: base } = project;
  const { auth, backlog, settings, face, signIn, ofServer } = shared;
  const { version, folders, origins, limits } = settings;
  const body = jsonBody(limitsOf(project, limits).body);
  const mcp = new McpSessions(app, version, folders, backlog);
  const modern = new ModernMcp(app, version, folders, backlog);
  const sessions = new RestSessions(app);
  const toolEndpoints = await memoryBankEndpoints(app, sessions, backlog);
  const endpoints = [
    // With several projects, its answer is for the callers of its project; `/health` is for all.
    statusEndpoint(app),
    ...toolEndpoints,
    ...(await briefEndpoints(app, sessions, backlog)),
    ...(toolEndpoints.length > 0 ? [chatEndpoint(app)] : []),
    ...sessionEndpoints(auth),
    ...(face ? [...signInEndpoints(signIn), ...face.endpoints(app, sessions, backlog)] : []),
  ];
  const access = [auth.authorized, ownCookie(origins)];
  const ofMcp = express.Router();
  const path = pathOf('POST /mcp');
  ofMcp.all(path, named(path), access, modern.check, mcp.find);
  ofMcp.post(path, body, refuseBody);
  const scoped: RequestHandler = async (request, response, next) => {
    auth.require(await scopeOf(request, response), response, projectOf(response));
    next();
  };
  ofMcp.all(path, scoped, modern.handle, mcp.handle);
  const ofPages = express.Router();
  const ofSeveral = project.name !== undefined;
  const description = describeApi([...ofServer, ...endpoints], ofSeveral, base || '/');
  const page = renderPage(description);
  ofPages.get(pathOf('GET /openapi.json'), (_, response) => void response.json(description));
  ofPages.get(pathOf('GET /'), ({ baseUrl }, response) => response.redirect(`${baseUrl}/docs`));
  ofPages.get(pathOf('GET /docs'), (_, response) => void response.type('html').send(page));
  if (face) ofPages.use(pathOf('GET /view'), named('/view'));
  if (face) ofPages.use(face.pages(auth));
  const isOpen = (endpoint: Endpoint) => accessTo(endpoint, ofSeveral) === 'anyone';
  const open = endpoints.filter(isOpen);
  const closed = endpoints.filter((endpoint) => !isOpen(endpoint));
  const handle = sequence([
    below(['/mcp'], ofMcp),
    versioned,
    below(['/', '/openapi.json', '/docs', '/view'], ofPages),
    operationRoutes(open, auth, { ofSeveral, body }),
    ...access,
    operationRoutes(closed, auth, { ofSeveral, body }),
    () => {
      throw new HttpError(404, 'There is no such path. /openapi.json lists the paths.');
    },
  ]);
  return { handle, mcp, modern };
}
