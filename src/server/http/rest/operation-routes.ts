import type { Request, RequestHandler, Response } from 'express';
import type { Auth } from '../auth/auth.ts';
import { projectOf } from '../auth/projects.ts';
import { accessTo } from '../auth/route-access.ts';
import { type Endpoint, parametersOf } from '../server/endpoint.ts';
import { HttpError } from '../server/http-error.ts';
import { sequence } from '../server/sequence.ts';

declare global {
  namespace Express {
    interface Locals {
      /** The path of the operation as the description names it; undefined for any other path. */
      route: string | undefined;
    }
  }
}

/** The operations of one path. */
interface Path {
  /** As in the description. */
  readonly name: string;
  /** The part before the parameter, in lower case; all of it without one. */
  readonly fixed: string;
  readonly parameter: string | undefined;
  readonly byMethod: ReadonlyMap<string, RequestHandler>;
  readonly allow: string;
}

/**
 * Returns the handler of operations: it refuses the other methods of their paths, and leaves other
 * paths to the next handler.
 *
 * Case does not count in the fixed part of a path, nor does a slash at its end.
 *
 * @param ofSeveral whether the server has several projects.
 * @param body reads the bodies of those that have one.
 * @param checks run before all operations, also before a method is refused.
 */
export function operationRoutes(
  endpoints: readonly Endpoint[],
  auth: Auth,
  {
    ofSeveral,
    body = [],
    checks = [],
  }: { readonly ofSeveral: boolean } & {
    readonly [part in 'body' | 'checks']?: readonly RequestHandler[];
  },
): RequestHandler {
  const names = [...new Set(endpoints.map(({ path }) => path))];
  const paths = names.map((name): Path => {
    const ofPath = endpoints.filter(({ path }) => path === name);
    const methods = ofPath.map(
      (endpoint) => [methodOf(endpoint), run(endpoint, auth, body, ofSeveral)] as const,
    );
    const byMethod = new Map(methods);
    const get = byMethod.get('GET');
    return {
      name,
      fixed: name.replace(/\{\w+\}$/, '').toLowerCase(),
      parameter: parametersOf(name)[0],
      byMethod: get ? new Map([['HEAD', get], ...methods]) : byMethod,
      allow: methods.map(([method]) => method).join(', '),
    };
  });
  const plain = new Map(paths.flatMap((one) => (one.parameter ? [] : [[one.fixed, one] as const])));
  const open = paths.filter(({ parameter }) => parameter);
  return (request, response, next) => {
    const { path } = request;
    const found = plain.get(path) ?? inLowerCase(path, plain, open);
    if (!found) return next();
    response.locals.route = found.name;
    if (found.parameter) setParameter(request, found.parameter, path.slice(found.fixed.length));
    const perform = found.byMethod.get(request.method) ?? refuse(found.allow);
    if (checks.length === 0) return perform(request, response, next);
    sequence([...checks, perform])(request, response, next);
  };
}

function refuse(allow: string): RequestHandler {
  return () => {
    throw new HttpError(405, `This path allows ${allow} only.`, { Allow: allow });
  };
}

function methodOf({ method }: Endpoint): string {
  return method.toUpperCase();
}

/** Returns the path of a request that is not spelt like a path without a parameter. */
function inLowerCase(
  path: string,
  plain: ReadonlyMap<string, Path>,
  open: readonly Path[],
): Path | undefined {
  const lower = path.toLowerCase();
  const found = open.find(({ fixed }) => lower.startsWith(fixed) && lower !== fixed);
  return found ?? plain.get(lower.replace(/(?<=.)\/$/, ''));
}

/** @throws HttpError 400 for a value that cannot be decoded. */
function setParameter(request: Request, name: string, text: string): void {
  try {
    request.params = { [name]: text.includes('%') ? decodeURIComponent(text) : text };
  } catch {
    throw new HttpError(400, 'The request cannot be read.');
  }
}

/** Returns the handler of one operation: it reads the body and checks the scope. */
function run(
  endpoint: Endpoint,
  auth: Auth,
  body: readonly RequestHandler[],
  ofSeveral: boolean,
): RequestHandler {
  const { method, ofServer, handle } = endpoint;
  const access = accessTo(endpoint, ofSeveral);
  const perform = (request: Request, response: Response) => {
    if (access !== 'anyone') {
      const ofAll = ofServer && access !== 'memory:read';
      auth.require(access, response, ofAll ? undefined : projectOf(response));
    }
    return handle(request, response);
  };
  return method === 'post' ? sequence([...body, perform]) : perform;
}
