import type { Request, RequestHandler, Response } from 'express';
import { findTool } from '../../../app/session/toolset-selection.ts';
import type { Tool } from '../../../core/declarations/tool.ts';
import { isObject } from '../../../core/values/json.ts';
import { methodAccess } from '../../mcp/method-access.ts';
import { AccessTokens, type Identity, type Scope, scopes } from './access-tokens.ts';
import type { WindowClient } from './code-grant.ts';
import { projectOf, type ServedProject, scopeIn } from './projects.ts';
import { pathOf } from './route-access.ts';

/** The authorization server whose access tokens are accepted. */
export interface OAuthSettings {
  /** Its issuer identifier, which is the claim `iss` of its tokens. */
  readonly issuer: string;
  /** The claim `aud` of tokens for this server; by default the URL of `/mcp`, or of that of a project. */
  readonly audience?: string | undefined;
  /** The URL at which clients reach this server, without a path. */
  readonly publicUrl: string;
  /** The window as a client, by which people sign in; undefined where they do not. */
  readonly client?: WindowClient | undefined;
}

/** The path of the metadata (RFC 9728), also with the path of the resource. */
const metadataPath = pathOf('GET /.well-known/oauth-protected-resource');

/** Returns the paths of the metadata of a resource whose paths begin like this. */
export function metadataPaths(path: string): string[] {
  return [`${metadataPath}${path}`, `${metadataPath}${path}/mcp`];
}

/** This server as a resource of an authorization server. */
export class ProtectedResource {
  readonly #issuer: string;
  readonly #publicUrl: string;
  readonly #audience: string | undefined;
  readonly #tokens: AccessTokens;

  constructor({ issuer, audience, publicUrl }: OAuthSettings) {
    this.#issuer = issuer;
    this.#publicUrl = publicUrl.replace(/\/$/, '');
    this.#audience = audience;
    this.#tokens = new AccessTokens(issuer);
  }

  /** The audience of the tokens that are for the whole server. */
  get audience(): string {
    return this.#audience ?? `${this.#publicUrl}/mcp`;
  }

  /**
   * Returns the identity in an access token; undefined for a token that is not valid.
   *
   * @param project the one whose paths the request uses; undefined for the paths of the server.
   * @throws HttpError 503 if the keys of the issuer cannot be read.
   */
  identify(token: string, project: ServedProject | undefined): Promise<Identity | undefined> {
    const urls = new Set(['', project?.path ?? ''].map((path) => `${this.#publicUrl}${path}/mcp`));
    return this.#tokens.identify(
      token,
      this.#audience === undefined ? [...urls] : [this.#audience],
    );
  }

  /**
   * Returns a header `WWW-Authenticate` that names the metadata.
   *
   * @param path the beginning of the path of the resource.
   */
  challenge(fields: { readonly error?: string; readonly scope?: string }, path: string): string {
    const all = { ...fields, resource_metadata: `${this.#publicUrl}${metadataPath}${path}/mcp` };
    return `Bearer ${Object.entries(all)
      .map(([name, value]) => `${name}="${value}"`)
      .join(', ')}`;
  }

  /**
   * Describes a resource and its authorization server to clients.
   *
   * @param path the beginning of the path of the resource.
   * @param projects the projects whose scopes it supports.
   */
  metadata(path: string, projects: readonly ServedProject[]): RequestHandler {
    const named = projects.filter(({ name }) => name !== undefined);
    // Programs ask for every scope that they find here.
    const ofPrograms = scopes.filter((scope) => scope !== 'memory:review');
    const ofProjects = named.flatMap((project) =>
      ofPrograms.map((scope) => scopeIn(project, scope)),
    );
    const document = {
      resource: `${this.#publicUrl}${path}/mcp`,
      resource_name: 'Memory Bank',
      authorization_servers: [this.#issuer],
      scopes_supported: [...ofPrograms, ...ofProjects],
      bearer_methods_supported: ['header'],
    };
    return (_request, response) => void response.json(document);
  }
}

/** Returns the scope that a request to `/mcp` needs: the one of the tool that it calls. */
export async function scopeOf({ body }: Request, response: Response): Promise<Scope> {
  const toolsets = await projectOf(response).app.toolsets();
  const needed = (Array.isArray(body) ? body : [body]).map((message) => {
    const { method, params } = isObject(message) ? message : {};
    const callsTool = new Map(Object.entries(methodAccess)).get(String(method)) === 'tool';
    const name = callsTool && isObject(params) ? params.name : undefined;
    const found = typeof name === 'string' ? findTool(toolsets, name) : undefined;
    return found ? scopeOfTool(found.tool) : 'memory:read';
  });
  return scopes.findLast((scope) => needed.includes(scope)) ?? 'memory:read';
}

/** A tool that reaches another machine, such as the remote repository, is for administrators. */
function scopeOfTool({ effect, openWorld }: Tool): Scope {
  if (openWorld) return 'memory:admin';
  return effect === 'read' ? 'memory:read' : 'memory:write';
}
