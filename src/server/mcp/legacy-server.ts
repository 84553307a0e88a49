import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type Result,
  RootsListChangedNotificationSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { App } from '../../app/app.ts';
import type { Admission, CallOptions } from '../../app/session/call-context.ts';
import type { Author, Session } from '../../core/memory/session.ts';
import { toMemoryError } from '../../core/values/error.ts';
import type { Methods } from './method-access.ts';
import {
  agentOf,
  getPrompt,
  instructions,
  listPrompts,
  listTools,
  type Params,
  reporting,
  serverInfo,
  showsViews,
  text,
  toResult,
  unknownTool,
} from './methods.ts';
import { ResourceFeed } from './resources.ts';
import { methodNotFound, RpcError, toRpcError } from './rpc-error.ts';
import { warmSoon } from './warming.ts';

/** Loaded for a client that shows views. */
const views = () => import('./app-views.ts');

/** How long a call waits for the client to name its roots, in milliseconds. */
const rootsTimeout = 2_000;

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A client that can run on another machine, so that its roots do not name folders of this one. */
interface RemoteClient {
  /** The folders that the client may switch to, in addition to the project that is served. */
  readonly folders: readonly string[];
  /** The author of its commits; by default the one of git's configuration. */
  readonly author?: Author | undefined;
  /** The only mode that it may use; undefined for any. */
  readonly onlyMode?: string | undefined;
  /** Returns the admission of the call of a request. */
  admission(extra: Extra): Admission;
}

type Method = (params: Params, extra: Extra) => Promise<Result>;

/**
 * Creates the server for one client of revision 2025-11-25 or earlier.
 *
 * Its `leave` ends what waits for an answer of the client.
 *
 * @param remote undefined for a client that runs on this machine.
 */
export function createServer(
  app: App,
  version: string,
  remote?: RemoteClient,
): { server: Server; leave(): void } {
  const server = new Server(serverInfo(version), {
    capabilities: {
      tools: app.hasProfile ? { listChanged: true } : {},
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      logging: {},
    },
    instructions,
  });
  const disconnect = new AbortController();
  let stopWarming = () => {};
  let roots: Promise<readonly string[]> | undefined;
  const session = app.connect({
    isAgent: true,
    isLocal: remote === undefined,
    folders: remote?.folders,
    onlyMode: remote?.onlyMode,
    roots() {
      if (remote || !server.getClientCapabilities()?.roots) return Promise.resolve([]);
      roots ??= server
        .listRoots(undefined, { timeout: rootsTimeout, signal: disconnect.signal })
        .then(
          (answer) => answer.roots.map((root) => root.uri),
          () => [],
        );
      return roots;
    },
  });
  session.author = remote?.author;
  server.oninitialized = () => {
    // Every client lists the tools next. Once they are loaded, a call can fail in its toolset's words
    // even after the files of the program were replaced.
    app.toolsets().catch(() => {});
    if (remote) return;
    stopWarming = warmSoon(app, session, () => !!server.getClientCapabilities()?.roots);
  };
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => {
    roots = undefined;
    app.rootsChanged(session);
  });
  const { methods, feed } = methodsFor(app, session, server, remote);
  server.fallbackRequestHandler = async (request, extra) => {
    const method = methods.get(request.method);
    if (!method) throw new RpcError(methodNotFound, `Unknown method: ${request.method}`);
    session.agent ??= agentOf(server.getClientVersion());
    try {
      return await method(request.params ?? {}, extra);
    } catch (error) {
      const known = toMemoryError(error);
      throw error === known || known.code !== 'internal' ? toRpcError(known) : error;
    }
  };
  return {
    server,
    leave() {
      stopWarming();
      feed.close();
      disconnect.abort();
    },
  };
}

/**
 * Returns the methods that the server answers without the schemas of the SDK.
 *
 * With its schemas, the SDK would answer wrong arguments itself. Each toolset has an error format of
 * its own for them.
 */
function methodsFor(app: App, session: Session, server: Server, remote?: RemoteClient) {
  const notify = (notification: ServerNotification) => {
    // A failure means that the client has disconnected.
    server.notification(notification).catch(() => {});
  };
  const feed = new ResourceFeed(app, session, {
    listChanged: () => notify({ method: 'notifications/resources/list_changed' }),
    updated: (uri) => notify({ method: 'notifications/resources/updated', params: { uri } }),
  });
  const options = (extra: Extra): CallOptions => ({
    ...reporting({
      signal: extra.signal,
      progressToken: extra._meta?.progressToken,
      progress(params) {
        extra
          .sendNotification({ method: 'notifications/progress', params: { ...params } })
          .catch(() => {});
      },
      log(level, data) {
        const message = { level, logger: 'memory-bank', data };
        server.sendLoggingMessage(message, extra.sessionId).catch(() => {});
      },
    }),
    ...(remote && { admit: remote.admission(extra) }),
  });

  /** The names of the tools that the client has listed; undefined if they stay as they are. */
  let listed: string | undefined;
  const reportNewTools = async () => {
    if (listed === undefined) return;
    const now = (await app.offered(session)).map(({ tool }) => tool.name).join();
    if (now === listed) return;
    listed = now;
    notify({ method: 'notifications/tools/list_changed' });
  };
  const methods: Methods<Method> = {
    async 'tools/list'(_, extra) {
      const list = async () => {
        const adapt = showsViews(server.getClientCapabilities())
          ? (await views()).withView
          : undefined;
        const tools = await listTools(app, session, adapt);
        if (app.hasProfile) listed = tools.map(({ name }) => name).join();
        return { tools };
      };
      return remote ? remote.admission(extra)('read', list) : list();
    },
    async 'tools/call'(params, extra) {
      const name = text(params, 'name');
      const reply = await app.call(session, name, params.arguments, {
        ...options(extra),
        forModel: true,
      });
      if (!reply) throw await unknownTool(app, name);
      // The first records of the graph and a remote add tools; the answer does not wait for the look.
      setImmediate(() => void reportNewTools().catch(() => {}));
      return toResult(reply);
    },
    // Not part of MCP: `memory-bank doctor` compares it with the project.
    async 'memory-bank/project'() {
      return { root: await app.root(session) };
    },
    async 'resources/list'(_, extra) {
      feed.watch();
      return { resources: await feed.list(options(extra)) };
    },
    async 'resources/templates/list'() {
      return { resourceTemplates: await feed.templates() };
    },
    async 'resources/read'(params, extra) {
      const uri = text(params, 'uri');
      const view = uri.startsWith('ui://') ? await (await views()).readView(uri) : undefined;
      return { contents: [view ?? (await feed.read(uri, options(extra)))] };
    },
    async 'resources/subscribe'(params, extra) {
      await feed.subscribe(text(params, 'uri'), options(extra));
      return {};
    },
    async 'resources/unsubscribe'(params) {
      feed.unsubscribe(text(params, 'uri'));
      return {};
    },
    async 'prompts/list'() {
      return { prompts: await listPrompts(app) };
    },
    async 'prompts/get'(params, extra) {
      return getPrompt(app, session, text(params, 'name'), options(extra));
    },
  };
  return { methods: new Map(Object.entries(methods)), feed };
}
