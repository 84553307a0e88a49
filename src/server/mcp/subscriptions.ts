import { once } from 'node:events';
import type { App } from '../../app/app.ts';
import type { CallOptions } from '../../app/session/call-context.ts';
import type { Session } from '../../core/memory/session.ts';
import { isObject } from '../../core/values/json.ts';
import type { Params } from './methods.ts';
import { ResourceFeed } from './resources.ts';
import { internalError, invalidParams, RpcError } from './rpc-error.ts';

/** The limit of open subscriptions of one caller. */
export const maxSubscriptions = 50;

/** The limit of resources of one subscription; the acknowledgment names those within it. */
export const maxSubscribed = 1_000;

const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';

/** A request that stays open for notifications. */
interface Listening {
  readonly id: string | number;
  readonly params: Params;
  readonly caller: string;
  readonly session: Session;
  readonly options: CallOptions & { readonly signal: AbortSignal };
  /** Whether the session has a project to list; the client may name it later. */
  readonly placed: boolean;
  send(message: object): void;
}

/** The open requests `subscriptions/listen` of a server. */
export class Subscriptions {
  readonly #app: App;
  readonly #closing = new AbortController();
  readonly #feeds = new Set<ResourceFeed>();
  readonly #open = new Map<string, number>();

  constructor(app: App) {
    this.#app = app;
  }

  /** Notifies every client that all resources may have changed. */
  refresh(): void {
    for (const feed of this.#feeds) feed.refresh();
  }

  /** Ends all subscriptions. */
  end(): void {
    this.#closing.abort();
  }

  /**
   * Sends the notifications that a client asks for until it cancels or the server ends.
   *
   * @returns the result that ends the subscription.
   * @throws RpcError for invalid parameters, and above the limit of subscriptions.
   */
  async listen({ id, params, caller, session, options, placed, send }: Listening) {
    const { wantsList, uris } = readFilter(params);
    const _meta = { [subscriptionKey]: id };
    const notify = (name: string, content: object = {}) =>
      send({ jsonrpc: '2.0', method: `notifications/${name}`, params: { ...content, _meta } });
    let acknowledge = () => {};
    const acknowledged = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    const feed = new ResourceFeed(this.#app, session, {
      listChanged() {
        if (wantsList) void acknowledged.then(() => notify('resources/list_changed'));
      },
      updated: (uri) => void acknowledged.then(() => notify('resources/updated', { uri })),
    });
    const release = this.#reserve(caller);
    this.#feeds.add(feed);
    try {
      feed.watch(uris);
      if (placed) await feed.list(options);
      // The lists of tools and prompts do not change while the server runs.
      notify('subscriptions/acknowledged', {
        notifications: {
          ...(wantsList && { resourcesListChanged: true }),
          ...(uris.length > 0 && { resourceSubscriptions: uris }),
        },
      });
      acknowledge();
      const ended = AbortSignal.any([options.signal, this.#closing.signal]);
      if (!ended.aborted) await once(ended, 'abort');
      return { _meta };
    } finally {
      feed.close();
      this.#feeds.delete(feed);
      release();
    }
  }

  /** Counts a subscription of a caller; the returned function ends it. */
  #reserve(caller: string): () => void {
    const open = this.#open.get(caller) ?? 0;
    if (open >= maxSubscriptions) {
      const message = `All ${maxSubscriptions} subscriptions of this caller are open; end one.`;
      throw new RpcError(internalError, message);
    }
    this.#open.set(caller, open + 1);
    return () => {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left > 0) this.#open.set(caller, left);
      else this.#open.delete(caller);
    };
  }
}

/** Returns what a client asks for, up to the limit of resources. */
function readFilter({ notifications }: Params): { wantsList: boolean; uris: readonly string[] } {
  if (!isObject(notifications)) {
    throw new RpcError(invalidParams, 'The parameter "notifications" must be an object.');
  }
  const { resourcesListChanged, resourceSubscriptions = [] } = notifications;
  const given: readonly unknown[] = Array.isArray(resourceSubscriptions)
    ? resourceSubscriptions
    : [undefined];
  const uris = given.filter((uri) => typeof uri === 'string');
  if (uris.length < given.length) {
    throw new RpcError(invalidParams, '"resourceSubscriptions" must be a list of strings.');
  }
  return { wantsList: resourcesListChanged === true, uris: uris.slice(0, maxSubscribed) };
}
