import type { Request, RequestHandler, Response } from 'express';
import type { App } from '../../../app/app.ts';
import { HttpError } from '../server/http-error.ts';
import type { Limits } from '../server/limits.ts';
import type { Scope } from './access-tokens.ts';

/** A project that the server offers under a name. */
export interface NamedProject {
  readonly name: string;
  readonly app: App;
  /** Its own limits, in place of those of the server. */
  readonly limits?: Partial<Limits>;
}

/** A project as requests reach it. */
export interface ServedProject {
  /** Undefined for the only project of a server without names. */
  readonly name: string | undefined;
  /** The beginning of its paths: empty, or `/p/<name>`. */
  readonly path: string;
  readonly app: App;
  readonly limits?: Partial<Limits>;
}

declare global {
  namespace Express {
    interface Locals {
      /** The project of the request; undefined until it is known. */
      project: ServedProject | undefined;
      /** The beginning of the path that names the project; undefined if none does. */
      base: string | undefined;
    }
  }
}

/** The form of a name, which is part of paths and scopes. */
export const projectName = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Returns the scope that allows something in one project only. */
export function scopeIn(project: ServedProject | undefined, scope: Scope): string {
  const name = project?.name;
  return name === undefined ? scope : `${scope}:${name}`;
}

/** The projects of a server. */
export class Projects {
  /** In the order of the command line. */
  readonly all: readonly [ServedProject, ...ServedProject[]];

  /** @param named the projects by name; empty for a server that has one without a name. */
  constructor(app: App, named: readonly NamedProject[]) {
    const [first, ...others] = named.map((one) => ({ ...one, path: `/p/${one.name}` }));
    this.all = first ? [first, ...others] : [{ name: undefined, path: '', app }];
  }

  /** Whether callers choose a project by its name. */
  get areNamed(): boolean {
    return this.all[0].name !== undefined;
  }

  named(name: string): ServedProject | undefined {
    return this.all.find((project) => project.name === name);
  }

  /** Returns the projects that the caller may read. */
  of({ locals: { caller } }: Response): ServedProject[] {
    return this.all.filter((project) => caller.authorized && caller.may('memory:read', project));
  }

  /** Sets `locals.project` to the first project that the caller may read, unless the path names one. */
  readonly usual: RequestHandler = (_request, response, next) => {
    response.locals.project ??= this.of(response)[0] ?? this.all[0];
    next();
  };

  /** Refuses a path of a project that does not exist. */
  readonly refuseUnknown: RequestHandler = (request, response) => {
    const [, name = ''] = request.path.split('/');
    throw new HttpError(404, this.unknown(name, response));
  };

  /** Returns the message about an unknown name, with the names that the caller may know. */
  unknown(name: string, response: Response): string {
    const names = this.of(response).map((project) => project.name);
    const shown = JSON.stringify(name.slice(0, 100));
    return `There is no project ${shown}. The caller can use: ${names.join(', ') || 'none'}.`;
  }
}

/** Returns the project of a request. */
export function projectOf({ locals: { project } }: Response): ServedProject {
  if (!project) throw new Error('No project was chosen for the request.');
  return project;
}

/** Sets `locals.project` for the requests to its paths. */
export function enter(project: ServedProject): RequestHandler {
  return (_request: Request, response, next) => {
    response.locals.project = project;
    response.locals.base = project.path;
    next();
  };
}
