import type { RequestHandler } from 'express';
import type { App } from '../../../app/app.ts';
import type { LogLevel } from '../../../core/declarations/context.ts';
import type { Auth } from '../auth/auth.ts';
import type { NamedProject } from '../auth/projects.ts';
import type { OAuthSettings } from '../auth/protected-resource.ts';
import type { Backlog } from '../server/backlog.ts';
import type { Endpoint, RestSessions } from '../server/endpoint.ts';
import type { Limits } from '../server/limits.ts';

/** The settings of the HTTP server. */
export interface HttpSettings {
  /** The address to listen on, and the port; 0 for any free one. */
  readonly host: string;
  readonly port: number;
  /** The API keys; undefined lets everybody use the API. */
  readonly keys: readonly string[] | undefined;
  /** The keys of people, who also decide on the changes of agents. */
  readonly personKeys?: readonly string[];
  /** The URL at which clients reach this server, without a path; undefined if that is not known. */
  readonly publicUrl?: string | undefined;
  /** The authorization server whose access tokens are also accepted. */
  readonly oauth?: OAuthSettings | undefined;
  /** Further host names that requests may use for this server. */
  readonly hosts: readonly string[];
  /** The origins of the web pages that may send requests. */
  readonly origins: readonly string[];
  /** Absolute paths that MCP clients may switch to, in addition to the project that is served. */
  readonly folders: readonly string[];
  /** The projects that are served by name, the first one also without; by default the one of the app. */
  readonly projects?: readonly NamedProject[];
  readonly limits: Limits;
  /** The time limits for the head of a request and for all of it, in milliseconds. */
  readonly headTimeout: number;
  readonly requestTimeout: number;
  /** The time limit for reading an answer, in milliseconds. */
  readonly readTimeout: number;
  /** The limit of open connections; 1,000 by default. */
  readonly maxConnections?: number;
  /** The version of this program, with its build. */
  readonly version: string;
  readonly log: (level: LogLevel, message: string) => void;
  /** The name of the session cookie; by default `session_id`. */
  readonly cookie?: string;
  /** Whether `/metrics` reports counts; false by default. */
  readonly metrics?: boolean;
}

/** More paths of a server: pages for people, and the operations behind them. */
export interface Face {
  /** Whether a path is of a page or one of its files, whose requests are not counted. */
  isPage(path: string): boolean;
  /** Whether a path is of an operation of the pages, whose authorized requests are not counted. */
  isOperation(path: string): boolean;
  /** Returns the operations, which need a key or a session. */
  endpoints(app: App, sessions: RestSessions, backlog: Backlog): readonly Endpoint[];
  /** Returns the handler of the pages, which are the same for everybody. */
  pages(auth: Auth): RequestHandler;
  /** Ends the answers that have no end of their own. */
  endStreams(): void;
}
