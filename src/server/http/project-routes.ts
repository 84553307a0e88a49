import express, { type IRouter, type RequestHandler, type Router } from 'express';
import type { Auth } from './auth.ts';
import type { Backlog } from './backlog.ts';
import { chatEndpoint } from './chat.ts';
import { type Endpoint, RestSessions } from './endpoint.ts';
import { jsonBody, ownCookie, versioned } from './guards.ts';
import { HttpError } from './http-error.ts';
import { limitsOf } from './limits.ts';
import { McpSessions, refuseBody } from './mcp-sessions.ts';
import { ModernMcp } from './modern-mcp.ts';
import { describeApi } from './openapi.ts';
import { renderPage } from './page.ts';
import { projectOf, type ServedProject } from './projects.ts';
import { scopeOf } from './protected-resource.ts';
import { briefEndpoints, memoryBankEndpoints, sessionEndpoints, statusEndpoint } from './rest.ts';
import type { Face, HttpSettings } from './settings.ts';

/** The parts that the projects of a server have in common. */
interface Shared {
  readonly auth: Auth;
  readonly backlog: Backlog;
  readonly settings: HttpSettings;
  readonly face: Face | undefined;
  /** The operations of the whole server, which the description of each project also names. */
  readonly ofServer: readonly Endpoint[];
}

/** The REST API, MCP and the pages of one project. */
export interface ProjectRoutes {
  readonly handle: Router;
  readonly mcp: McpSessions;
  readonly modern: ModernMcp;
}

declare global {
  namespace Express {
    interface Locals {
      /** The path of the operation as the description names it; undefined for any other path. */
      route: string | undefined;
    }
  }
}

/** Sets the path under which requests are counted. */
function named(path: string): RequestHandler {
  return (_request, response, next) => {
    response.locals.route = path;
    next();
  };
}

/** Builds the handler of the requests to one project; they have passed the checks of the server. */
export async function createRoutes(project: ServedProject, shared: Shared): Promise<ProjectRoutes> {
  const { app, path: base } = project;
  const { auth, backlog, settings, face, ofServer } = shared;
  const { version, folders, origins, limits } = settings;
  const body = jsonBody(limitsOf(project, limits).body);
  const mcp = new McpSessions(app, version, folders, backlog);
  const modern = new ModernMcp(app, version, folders, backlog);
  const sessions = new RestSessions(app);
  const toolEndpoints = await memoryBankEndpoints(app, sessions, backlog);
  const endpoints = [
    // With several projects, its answer is for the callers of its project; `/health` is for all.
    statusEndpoint(app, project.name === undefined),
    ...toolEndpoints,
    ...(await briefEndpoints(app, sessions, backlog)),
    ...(toolEndpoints.length > 0 ? [chatEndpoint(app)] : []),
    ...sessionEndpoints(auth),
    ...(face?.endpoints(app, sessions, backlog) ?? []),
  ];
  const routes = express.Router();
  const access = [auth.authorized, ownCookie(origins)];
  routes.all('/mcp', named('/mcp'), access, modern.check, mcp.find);
  routes.post('/mcp', body, refuseBody);
  const scoped: RequestHandler = async (request, response, next) => {
    auth.require(await scopeOf(request, response), response, projectOf(response));
    next();
  };
  routes.all('/mcp', scoped, modern.handle, mcp.handle);
  routes.use(versioned);
  const description = describeApi([...ofServer, ...endpoints], base || '/');
  const page = renderPage(description);
  routes.get('/openapi.json', (_, response) => void response.json(description));
  routes.get('/', ({ baseUrl }, response) => response.redirect(`${baseUrl}/docs`));
  routes.get('/docs', (_, response) => void response.type('html').send(page));
  if (face) routes.use('/view', named('/view'));
  if (face) routes.use(face.pages(auth));
  addRoutes(
    routes,
    endpoints.filter(({ open }) => open),
    auth,
    body,
  );
  routes.use(access);
  addRoutes(
    routes,
    endpoints.filter(({ open }) => !open),
    auth,
    body,
  );
  routes.use(() => {
    throw new HttpError(404, 'There is no such path. /openapi.json lists the paths.');
  });
  return { handle: routes, mcp, modern };
}

/**
 * Adds the operations to a router, and refuses the other methods of their paths.
 *
 * @param body reads the bodies of those that have one.
 */
export function addRoutes(
  routes: IRouter,
  endpoints: readonly Endpoint[],
  auth: Auth,
  body: RequestHandler[] = [],
): void {
  const paths = [...new Set(endpoints.map(({ path }) => path))];
  for (const path of paths) {
    const route = routes.route(path.replace(/\{(\w+)\}/g, '*$1'));
    const ofPath = endpoints.filter((endpoint) => endpoint.path === path);
    route.all((_request, response, next) => {
      response.locals.route = path;
      next();
    });
    for (const { method, open, commits, scope, ofServer, handle } of ofPath) {
      const before = method === 'post' ? body : [];
      const needed = scope ?? (commits ? 'memory:write' : 'memory:read');
      route[method](...before, (request, response) => {
        if (!open) {
          const project = ofServer && scope ? undefined : projectOf(response);
          auth.require(needed, response, project);
        }
        return handle(request, response);
      });
    }
    const allow = ofPath.map(({ method }) => method.toUpperCase()).join(', ');
    route.all(() => {
      throw new HttpError(405, `This path allows ${allow} only.`, { Allow: allow });
    });
  }
}
