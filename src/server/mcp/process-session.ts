import type { App } from '../../app/app.ts';
import type { Session } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import type { ModernRequest } from './modern-request.ts';
import { invalidParams, RpcError } from './rpc-error.ts';
import { warmSoon } from './warming.ts';

/** The result that asks the client for its roots. */
export const rootsRequired = {
  resultType: 'input_required',
  inputRequests: { roots: { method: 'roots/list' } },
};

/** The session of a process that serves one client, and the choice of its project. */
export class ProcessSession {
  readonly session: Session;
  readonly #app: App;
  readonly #onChosen: () => void;
  /** The roots that the client named last. */
  #roots: readonly string[] = [];
  #stopWarming: (() => void) | undefined;
  /** The end of the previous choice: requests reach the session in their order. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param onChosen called when roots of the client have decided on the project. */
  constructor(app: App, onChosen: () => void) {
    this.#app = app;
    this.#onChosen = onChosen;
    this.session = app.connect({ roots: async () => this.#roots, isAgent: true, isLocal: true });
  }

  /** Opens the memory in the background, once, after a request. */
  warm({ capabilities }: ModernRequest): void {
    this.#stopWarming ??= warmSoon(this.#app, this.session, () => capabilities.roots !== undefined);
  }

  leave(): void {
    this.#stopWarming?.();
  }

  /**
   * Lets the roots of the client decide on the project, if nothing of higher rank does.
   *
   * @returns whether the request may go on; otherwise the client has to name its roots.
   * @throws RpcError for roots of another shape than the result of `roots/list`.
   */
  choose(request: ModernRequest): Promise<boolean> {
    const choice = this.#turn.then(() => this.#choose(request));
    this.#turn = choice.catch(() => {});
    return choice;
  }

  async #choose({ params, capabilities }: ModernRequest): Promise<boolean> {
    const given = rootsIn(params.inputResponses);
    this.#roots = given ?? this.#roots;
    let asks = false;
    const clientRoots = async () => {
      asks = given === undefined && capabilities.roots !== undefined;
      if (asks) throw new MemoryError('no_project', 'The client has not named its roots.');
      return given ?? [];
    };
    const chosen = await this.#app.root(this.session, clientRoots).then(
      () => true,
      // The call itself reports why there is no project, if it needs one.
      () => false,
    );
    if (chosen && given) this.#onChosen();
    return !asks;
  }
}

/** Returns the URIs of the roots that a client names; undefined if it names none. */
function rootsIn(responses: unknown): readonly string[] | undefined {
  const given = isObject(responses) ? responses.roots : undefined;
  if (given === undefined) return undefined;
  const roots: readonly unknown[] =
    isObject(given) && Array.isArray(given.roots) ? given.roots : [undefined];
  const uris = roots.map((root) => (isObject(root) ? root.uri : undefined));
  const known = uris.filter((uri) => typeof uri === 'string');
  if (known.length === uris.length) return known;
  throw new RpcError(invalidParams, 'The input response "roots" must be a result of roots/list.');
}
