import type { App } from '../../app/app.ts';
import type { Admission, CallOptions } from '../../app/session/call-context.ts';
import { findTool } from '../../app/session/toolset-selection.ts';
import type { Author, Session } from '../../core/memory/session.ts';
import { toMemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Methods } from './method-access.ts';
import {
  getPrompt,
  instructions,
  listPrompts,
  listTools,
  reporting,
  serverInfo,
  showsViews,
  text,
  toResult,
  unknownTool,
} from './methods.ts';
import { checkVersion, logLevels, type ModernRequest, modernRevision } from './modern-request.ts';
import { ProcessSession, rootsRequired } from './process-session.ts';
import { projectOfPrompt, readPlace, takeArgument, withProject } from './project-argument.ts';
import { ResourceFeed } from './resources.ts';
import { invalidParams, methodNotFound, RpcError, toRpcError } from './rpc-error.ts';
import { type SessionHandles, sessionOfPrompt, withHandle } from './session-handles.ts';
import { Subscriptions } from './subscriptions.ts';

/** The error code for a request that needs a capability which its client does not have. */
export const missingCapability = -32021;

/** How long clients may keep lists, which only another version of the program changes, and records. */
const stable = { ttlMs: 60 * 60 * 1000, cacheScope: 'public' };
const changing = { ttlMs: 0, cacheScope: 'private' };

const discovery = {
  supportedVersions: [modernRevision],
  capabilities: {
    tools: {},
    resources: { subscribe: true, listChanged: true },
    prompts: {},
    logging: {},
    extensions: { 'io.modelcontextprotocol/skills': {} },
  },
  instructions,
  ...stable,
};

/** Loaded for a client that shows views. */
const views = () => import('./app-views.ts');

/** Loaded when a client asks for a skill: most get them from a plugin. */
const skills = () => import('./skills.ts');

const infoKey = 'io.modelcontextprotocol/serverInfo';

/** The way of one request to its client and back. */
export interface Exchange {
  /** Aborted when the client cancels the request. */
  readonly signal: AbortSignal;
  /** Identifies the sender of the request. */
  readonly caller: string;
  readonly admit?: Admission;
  /** The author of the commits; by default the one of git's configuration. */
  readonly author?: Author | undefined;
  /** The only mode that the caller may use; undefined for any. */
  readonly onlyMode?: string | undefined;
  /** Whether calls at this address may name a project. */
  readonly choosesProject?: boolean;
  /** Sends a notification that belongs to the request. */
  send(message: object): void;
}

/** The answer to a request, as it is sent. */
export interface ModernResponse {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

type Result = { readonly _meta?: JsonObject | undefined; readonly [key: string]: unknown };
type Method = (request: ModernRequest, exchange: Exchange) => Promise<Result>;

/** Serves revision 2026-07-28: each request brings its version, its client and its capabilities. */
export class ModernServer {
  readonly #app: App;
  readonly #version: string;
  readonly #handles: SessionHandles | undefined;
  readonly #process: ProcessSession;
  readonly #subscriptions: Subscriptions;
  readonly #methods: ReadonlyMap<string, Method>;

  /** @param handles names the sessions of callers; undefined if the process has one session. */
  constructor(app: App, version: string, handles?: SessionHandles) {
    this.#app = app;
    this.#version = version;
    this.#handles = handles;
    this.#subscriptions = new Subscriptions(app);
    this.#process = new ProcessSession(app, () => this.#subscriptions.refresh());
    this.#methods = new Map(Object.entries(this.#methodsByName()));
  }

  /** Answers a request; returns undefined if its client has cancelled it. */
  async answer(request: ModernRequest, exchange: Exchange): Promise<ModernResponse | undefined> {
    const { id, method } = request;
    try {
      checkVersion(request);
      const handle = this.#methods.get(method);
      if (!handle) throw new RpcError(methodNotFound, `Unknown method: ${method}`);
      // No list here has a second page.
      if (method.endsWith('/list') && request.params.cursor !== undefined) {
        throw new RpcError(invalidParams, 'The cursor is not one of this server.');
      }
      const { _meta, ...result } = await handle(request, exchange);
      if (exchange.signal.aborted) return undefined;
      if (!this.#handles) this.#process.warm(request);
      const meta = { ..._meta, [infoKey]: serverInfo(this.#version) };
      return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result, _meta: meta } };
    } catch (thrown) {
      return exchange.signal.aborted ? undefined : refuse(id, this.#toRpcError(thrown, request));
    }
  }

  /** Whether this caller got a session handle from here. */
  gave(handle: unknown, caller: string): boolean {
    return this.#handles?.gave(handle, caller) ?? false;
  }

  /** Ends the subscriptions; each is answered. */
  leave(): void {
    this.#process.leave();
    this.#subscriptions.end();
  }

  #methodsByName(): Methods<Method> {
    const app = this.#app;
    return {
      'server/discover': async () => {
        // Once the toolsets are loaded, a call can fail in the words of its toolset even after the
        // files of the program were replaced.
        setImmediate(() => void app.toolsets().catch(() => {}));
        return discovery;
      },
      'tools/list': async (request, exchange) => {
        const { capabilities } = request;
        const { admit, choosesProject } = exchange;
        const list = async () => {
          // The client is not asked for its roots before it needs a project.
          const isPlaced = app.hasProfile && (await this.#hasRoot(request));
          const session = isPlaced ? this.#session(request, exchange) : undefined;
          const listed = await listTools(app, session, this.#handles && withHandle);
          const tools = choosesProject ? listed.map(withProject) : listed;
          // The use of the project decides which tools the profile offers.
          const kept = app.hasProfile ? changing : stable;
          if (!showsViews(capabilities)) return { tools, ...kept };
          const { withView } = await views();
          // Other clients get another list.
          return { tools: tools.map(withView), ...kept, cacheScope: 'private' };
        };
        return admit ? admit('read', list) : list();
      },
      'tools/call': (request, exchange) => this.#callTool(request, exchange),
      'resources/list': async (request, exchange) => {
        const resources = (await this.#hasRoot(request))
          ? await this.#resources(request, exchange).list(optionsOf(request, exchange))
          : [];
        const { listSkillFiles } = await skills();
        return { resources: [...resources, ...(await listSkillFiles())], ...changing };
      },
      'resources/templates/list': async (request, exchange) => ({
        resourceTemplates: await this.#resources(request, exchange).templates(),
        ...stable,
      }),
      'resources/read': async (request, exchange) => {
        const uri = text(request.params, 'uri');
        if (uri.startsWith('skill://')) {
          const { readSkillFile } = await skills();
          return { contents: [await readSkillFile(uri)], ...stable };
        }
        const view = uri.startsWith('ui://') ? await (await views()).readView(uri) : undefined;
        if (view) return { contents: [view], ...stable };
        if (!(await this.#hasRoot(request))) return rootsRequired;
        const resources = this.#resources(request, exchange);
        return { contents: [await resources.read(uri, optionsOf(request, exchange))], ...changing };
      },
      'prompts/list': async (_, { choosesProject }) => ({
        prompts: await listPrompts(app, [
          ...(this.#handles ? [sessionOfPrompt] : []),
          ...(choosesProject ? [projectOfPrompt] : []),
        ]),
        ...stable,
      }),
      'prompts/get': async (request, exchange) => {
        const name = text(request.params, 'name');
        if (!(await this.#hasRoot(request))) return rootsRequired;
        const session = this.#session(request, exchange);
        return getPrompt(app, session, name, optionsOf(request, exchange));
      },
      'skills/list': async () => ({ skills: await (await skills()).listSkills(), ...stable }),
      'skills/get': async ({ params }) => {
        const { getSkill } = await skills();
        return { skill: await getSkill(text(params, 'uri')), ...stable };
      },
      'subscriptions/listen': (request, exchange) => this.#listen(request, exchange),
    };
  }

  async #callTool(request: ModernRequest, exchange: Exchange): Promise<Result> {
    const name = text(request.params, 'name');
    if (!(await this.#hasRoot(request))) return rootsRequired;
    const { arguments: given } = request.params;
    const options = optionsOf(request, exchange);
    if (!this.#handles)
      return toResult((await this.#call(this.#process.session, name, given, options)).reply);
    const { value: handle, rest: args } = takeArgument(given, 'session');
    const held = this.#handles.open(handle, exchange.caller, exchange.onlyMode);
    // Refused as a call of the tool, so that the model reads it in the format of the toolset.
    const refusal = held.refusal && { admit: () => Promise.reject(held.refusal) };
    const { reply, tool } = await this.#call(held.session, name, args, { ...options, ...refusal });
    if (!tool?.setsSession || reply.error !== undefined) return toResult(reply);
    return toResult({ ...reply, body: { ...reply.body, session: held.keep() } });
  }

  async #call(session: Session, name: string, args: unknown, options: CallOptions) {
    const reply = await this.#app.call(session, name, args, { ...options, forModel: true });
    if (!reply) throw await unknownTool(this.#app, name);
    return { reply, tool: findTool(await this.#app.toolsets(), name)?.tool };
  }

  async #listen(request: ModernRequest, exchange: Exchange): Promise<Result> {
    const { id, params } = request;
    const { caller, signal } = exchange;
    return this.#subscriptions.listen({
      id,
      params,
      caller,
      session: this.#session(request, exchange),
      options: { ...optionsOf(request, exchange), signal },
      placed: await this.#hasRoot(request),
      send: (message) => exchange.send(message),
    });
  }

  /**
   * Returns the session of a request that does not call a tool.
   *
   * @throws MemoryError `invalid_input` for a handle that is refused.
   */
  #session({ method, params }: ModernRequest, { caller, onlyMode }: Exchange): Session {
    const { session: handle } = readPlace(method, params);
    const held = this.#handles?.open(handle, caller, onlyMode);
    if (held?.refusal) throw held.refusal;
    return held?.session ?? this.#process.session;
  }

  #resources(request: ModernRequest, exchange: Exchange): ResourceFeed {
    return new ResourceFeed(this.#app, this.#session(request, exchange));
  }

  /** Whether the request may go on; otherwise its client has to name its roots. */
  async #hasRoot(request: ModernRequest): Promise<boolean> {
    // A client over HTTP may run on another machine.
    return this.#handles !== undefined || this.#process.choose(request);
  }

  #toRpcError(thrown: unknown, { capabilities }: ModernRequest): RpcError {
    if (thrown instanceof RpcError) return thrown;
    const error = toMemoryError(thrown);
    if (error.code !== 'no_project' || this.#handles || capabilities.roots !== undefined) {
      return toRpcError(error, invalidParams);
    }
    return new RpcError(missingCapability, error.text, { requiredCapabilities: { roots: {} } });
  }
}

/** Returns an error as it is sent. */
export function refuse(id: string | number | undefined, error: RpcError): ModernResponse {
  const { code, message, data } = error;
  return {
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    error: { code, message, ...(data !== undefined && { data }) },
  };
}

function optionsOf(request: ModernRequest, { signal, admit, author, send }: Exchange): CallOptions {
  const { agent, logLevel, progressToken } = request;
  const notify = (name: string, params: object) =>
    send({ jsonrpc: '2.0', method: `notifications/${name}`, params });
  return {
    ...reporting({
      signal,
      progressToken,
      progress: (params) => notify('progress', params),
      log(level, data) {
        if (logLevel === undefined || signal.aborted) return;
        if (logLevels.indexOf(level) < logLevels.indexOf(logLevel)) return;
        notify('message', { level, logger: 'memory-bank', data });
      },
    }),
    agent,
    author,
    ...(admit && { admit }),
  };
}
