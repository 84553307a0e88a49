import type { Endpoint } from '../server/endpoint.ts';
import { type Scope, scopes } from './access-tokens.ts';

/** The callers that may use a route: anyone, or those with a scope. */
export type RouteAccess = 'anyone' | Scope;

/**
 * The access to each route; a parameter of a path stands for all paths below it.
 *
 * A change by a caller that is not a person waits for a review where the memory requires one.
 * Decisions on reviews are therefore for people only. A pair is for a server with one project, and for
 * one with several.
 */
const routes = {
  'GET /health': 'anyone',
  'GET /ready': 'anyone',
  'GET /status': ['anyone', 'memory:read'],
  'GET /openapi.json': 'anyone',
  'GET /': 'anyone',
  'GET /docs': 'anyone',
  'GET /.well-known/oauth-protected-resource': 'anyone',
  'GET /view': 'anyone',
  // The session has the rights of the access token that the issuer gives.
  'GET /sign-in': 'anyone',
  'POST /sign-in/begin': 'anyone',
  'POST /sign-in/finish': 'anyone',
  'GET /projects': 'memory:read',
  'GET /metrics': 'memory:admin',
  // A session has the rights of the caller that opens it.
  'POST /session': 'memory:read',
  'DELETE /session': 'memory:read',
  // A call of a tool needs the scope of the tool.
  'POST /mcp': 'memory:read',
  'GET /mcp': 'memory:read',
  'DELETE /mcp': 'memory:read',
  'POST /chat': 'memory:write',
  'GET /memory-bank/file/{filename}': 'memory:read',
  'POST /memory-bank/file': 'memory:write',
  'DELETE /memory-bank/file/{filename}': 'memory:write',
  'GET /memory-bank/files': 'memory:read',
  'GET /memory-bank/modes': 'memory:read',
  'POST /memory-bank/trackProgress': 'memory:write',
  'POST /memory-bank/logDecision': 'memory:write',
  'POST /memory-bank/updateActiveContext': 'memory:write',
  'GET /memory-bank/brief': 'memory:read',
  'GET /memory/window': 'memory:read',
  'GET /memory/home': 'memory:read',
  'GET /memory/news': 'memory:read',
  'GET /memory/records': 'memory:read',
  'GET /memory/record/{path}': 'memory:read',
  'GET /memory/search': 'memory:read',
  'GET /memory/graph': 'memory:read',
  'GET /memory/around': 'memory:read',
  'GET /memory/board': 'memory:read',
  'POST /memory/tasks/move': 'memory:write',
  'POST /memory/tasks/create': 'memory:write',
  'POST /memory/tasks/claim': 'memory:write',
  'POST /memory/tasks/release': 'memory:write',
  'GET /memory/log': 'memory:read',
  'GET /memory/activity': 'memory:read',
  'GET /memory/branches': 'memory:read',
  'GET /memory/modes': 'memory:read',
  'GET /memory/evidence': 'memory:read',
  'GET /memory/concerns': 'memory:read',
  'POST /memory/verify': 'memory:write',
  'GET /memory/compare': 'memory:read',
  'GET /memory/blame/{path}': 'memory:read',
  'GET /memory/conflicts': 'memory:read',
  'POST /memory/resolve': 'memory:write',
  'POST /memory/restore': 'memory:write',
  'GET /memory/form/{path}': 'memory:read',
  'POST /memory/preview': 'memory:read',
  'POST /memory/record': 'memory:write',
  'POST /memory/reviewed': 'memory:review',
  'GET /memory/reviews': 'memory:read',
  'POST /memory/reviews/accept': 'memory:review',
  'POST /memory/branches/accept': 'memory:review',
  'POST /memory/reviews/drop': 'memory:review',
  'POST /memory/reviews/edit': 'memory:review',
  'POST /memory/reviews/undo': 'memory:review',
  // An agent could propose a record that names a file, and read the file by that.
  'GET /memory/reviews/beside': 'memory:review',
  'GET /memory/confirmable': 'memory:read',
  'POST /memory/confirm': 'memory:review',
  'GET /memory/user-records': 'memory:read',
  'GET /memory/user-record/{path}': 'memory:read',
  'GET /memory/events': 'memory:read',
} as const satisfies {
  readonly [route: string]: RouteAccess | readonly [RouteAccess, RouteAccess];
};

type Route = keyof typeof routes;

/** The routes with their access. */
export const routeAccess: ReadonlyMap<string, RouteAccess | readonly [RouteAccess, RouteAccess]> =
  new Map(Object.entries(routes));

/** The path of a route that is declared above; another one does not compile. */
export function pathOf(route: Route): string {
  return route.slice(route.indexOf(' ') + 1);
}

/**
 * Returns the access to an operation.
 *
 * @param ofSeveral whether the server has several projects.
 * @throws Error for an operation that the table does not have.
 */
export function accessTo({ method, path }: Endpoint, ofSeveral: boolean): RouteAccess {
  const route = `${method.toUpperCase()} ${path}`;
  const access = routeAccess.get(route);
  if (access === undefined) throw new Error(`The table of access has no ${route}.`);
  if (typeof access === 'string') return access;
  return access[ofSeveral ? 1 : 0];
}

/** The scopes that include another one: administration does not include the rights of people. */
const including: { readonly [scope in Scope]: readonly Scope[] } = {
  'memory:read': scopes,
  'memory:write': ['memory:write', 'memory:admin', 'memory:review'],
  'memory:admin': ['memory:admin'],
  'memory:review': ['memory:review'],
};

/** Returns the scopes of which each allows what a scope allows. */
export function scopesFor(scope: Scope): readonly Scope[] {
  return including[scope];
}
