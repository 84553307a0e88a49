import express, { type RequestHandler, type Router } from 'express';
import type { Auth } from './auth.ts';
import type { Backlog } from './backlog.ts';
import { chatEndpoint } from './chat.ts';
import { type Endpoint, RestSessions } from './endpoint.ts';
import { jsonBody, ownCookie, versioned } from './guards.ts';
import { HttpError } from './http-error.ts';
import { McpSessions, refuseBody } from './mcp-sessions.ts';
import { ModernMcp } from './modern-mcp.ts';
import { describeApi } from './openapi.ts';
import { renderPage } from './page.ts';
import type { ServedProject } from './projects.ts';
import { scopeOf } from './protected-resource.ts';
import { memoryBankEndpoints, sessionEndpoints, statusEndpoint } from './rest.ts';
import type { Face, HttpSettings } from './settings.ts';

/** The parts that the projects of a server have in common. */
interface Shared {
  readonly auth: Auth;
  readonly backlog: Backlog;
  readonly settings: HttpSettings;
  readonly face: Face | undefined;
}

/** The REST API, MCP and the pages of one project. */
export interface ProjectRoutes {
  readonly handle: Router;
  readonly mcp: McpSessions;
  readonly modern: ModernMcp;
}

/** Builds the handler of the requests to one project; they have passed the checks of the server. */
export async function createRoutes(project: ServedProject, shared: Shared): Promise<ProjectRoutes> {
  const { app, path: base } = project;
  const { auth, backlog, settings, face } = shared;
  const { version, folders, origins } = settings;
  const mcp = new McpSessions(app, version, folders, backlog);
  const modern = new ModernMcp(app, version, folders, backlog);
  const sessions = new RestSessions(app);
  const toolEndpoints = await memoryBankEndpoints(app, sessions, backlog);
  const endpoints = [
    statusEndpoint(app),
    ...toolEndpoints,
    ...(toolEndpoints.length > 0 ? [chatEndpoint(app)] : []),
    ...sessionEndpoints(auth),
    ...(face?.endpoints(app, sessions, backlog) ?? []),
  ];
  const routes = express.Router();
  const access = [auth.authorized, ownCookie(origins)];
  routes.all('/mcp', access, modern.check, mcp.find);
  routes.post('/mcp', jsonBody, refuseBody);
  const scoped: RequestHandler = async (request, response, next) => {
    auth.require(await scopeOf(request, response), response);
    next();
  };
  routes.all('/mcp', scoped, modern.handle, mcp.handle);
  routes.use(versioned);
  const description = describeApi(endpoints, base || '/');
  const page = renderPage(description);
  routes.get('/openapi.json', (_, response) => void response.json(description));
  routes.get('/', ({ baseUrl }, response) => response.redirect(`${baseUrl}/docs`));
  routes.get('/docs', (_, response) => void response.type('html').send(page));
  if (face) routes.use(face.pages(auth));
  addRoutes(
    routes,
    endpoints.filter(({ open }) => open),
    auth,
  );
  routes.use(access);
  addRoutes(
    routes,
    endpoints.filter(({ open }) => !open),
    auth,
  );
  routes.use(() => {
    throw new HttpError(404, 'There is no such path. /openapi.json lists the paths.');
  });
  return { handle: routes, mcp, modern };
}

function addRoutes(routes: Router, endpoints: readonly Endpoint[], auth: Auth): void {
  const paths = [...new Set(endpoints.map(({ path }) => path))];
  for (const path of paths) {
    const route = routes.route(path.replace(/\{(\w+)\}/g, '*$1'));
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
