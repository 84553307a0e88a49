import type { RequestHandler } from 'express';
import { idOf, isModern } from '../../mcp/modern-request.ts';
import { refuse } from '../../mcp/modern-server.ts';
import { readPlace, withoutProject } from '../../mcp/project-argument.ts';
import { invalidParams, RpcError } from '../../mcp/rpc-error.ts';
import type { Projects, ServedProject } from '../auth/projects.ts';
import { isModernHead, type ModernMcp } from './modern-mcp.ts';

declare global {
  namespace Express {
    interface Locals {
      /** Whether an MCP request may name a project, because its address does not. */
      choosesProject: boolean | undefined;
    }
  }
}

/** Chooses the project of an MCP request to `/mcp` on a server with several projects. */
export class ProjectChoice {
  readonly #projects: Projects;
  readonly #modern: (project: ServedProject) => ModernMcp | undefined;

  /** @param modern returns the MCP server of a project. */
  constructor(projects: Projects, modern: (project: ServedProject) => ModernMcp | undefined) {
    this.#projects = projects;
    this.#modern = modern;
  }

  /** Leaves sessions of earlier revisions, which belong to one project, to the routes of the project. */
  readonly onlyModern: RequestHandler = (request, _response, next) =>
    isModernHead(request) ? next() : next('route');

  /** Sets `locals.project` by the project that a request names, or by its handle. */
  readonly choose: RequestHandler = (request, response, next) => {
    const { body } = request;
    const { locals } = response;
    if (!isModern(body)) return next();
    locals.choosesProject = true;
    const place = readPlace(body.method, body.params);
    request.body = withoutProject(body);
    if (place.project !== undefined) {
      const project = this.#projects.named(String(place.project));
      if (!project) {
        const message = this.#projects.unknown(String(place.project), response);
        return void response.json(refuse(idOf(body), new RpcError(invalidParams, message)));
      }
      locals.project = project;
    } else if (place.session !== undefined) {
      // A handle belongs to the project in which it was made.
      const { account } = locals.caller;
      const isOwner = (one: ServedProject) =>
        this.#modern(one)?.gave(place.session, account) ?? false;
      locals.project = this.#projects.all.find(isOwner) ?? locals.project;
    }
    next();
  };
}
