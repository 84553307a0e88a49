import type { Request, RequestHandler } from 'express';
import type { App } from '../../app/app.ts';
import { findTool } from '../../app/toolset-selection.ts';
import { isObject } from '../../core/json.ts';
import type { Tool } from '../../core/tool.ts';
import { AccessTokens, type Identity, type Scope, scopes } from './access-tokens.ts';

/** The authorization server whose access tokens are accepted. */
export interface OAuthSettings {
  /** Its issuer identifier, which is the claim `iss` of its tokens. */
  readonly issuer: string;
  /** The claim `aud` of tokens for this server; by default the URL of `/mcp`. */
  readonly audience?: string | undefined;
  /** The URL at which clients reach this server, without a path. */
  readonly publicUrl: string;
}

/** The path of the metadata (RFC 9728), also with the path of the resource. */
export const metadataPath = '/.well-known/oauth-protected-resource';

/** This server as a resource of an authorization server. */
export class ProtectedResource {
  readonly #issuer: string;
  readonly #publicUrl: string;
  readonly #tokens: AccessTokens;

  /** @param cooldown see `AccessTokens`. */
  constructor({ issuer, audience, publicUrl }: OAuthSettings, cooldown?: number) {
    this.#issuer = issuer;
    this.#publicUrl = publicUrl.replace(/\/$/, '');
    this.#tokens = new AccessTokens(issuer, audience ?? `${this.#publicUrl}/mcp`, cooldown);
  }

  /**
   * Returns the identity in an access token; undefined for a token that is not valid.
   *
   * @throws HttpError 503 if the keys of the issuer cannot be read.
   */
  identify(token: string): Promise<Identity | undefined> {
    return this.#tokens.identify(token);
  }

  /** Returns a header `WWW-Authenticate` that names the metadata. */
  challenge(fields: { readonly error?: string; readonly scope?: string }): string {
    const all = { ...fields, resource_metadata: `${this.#publicUrl}${metadataPath}/mcp` };
    return `Bearer ${Object.entries(all)
      .map(([name, value]) => `${name}="${value}"`)
      .join(', ')}`;
  }

  /** Describes the resource and its authorization server to clients. */
  readonly metadata: RequestHandler = (_request, response) => {
    response.json({
      resource: `${this.#publicUrl}/mcp`,
      resource_name: 'Memory Bank',
      authorization_servers: [this.#issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    });
  };
}

/** Returns the scope that a request to `/mcp` needs: the one of the tool that it calls. */
export async function scopeOf(app: App, { body }: Request): Promise<Scope> {
  const toolsets = await app.toolsets();
  const needed = (Array.isArray(body) ? body : [body]).map((message) => {
    const params = isObject(message) && message.method === 'tools/call' ? message.params : {};
    const name = isObject(params) ? params.name : undefined;
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
