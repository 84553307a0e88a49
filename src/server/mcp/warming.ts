import type { App } from '../../app/app.ts';
import type { Session } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';

/** Time for the first requests of a client, which lists the tools before it calls one, in milliseconds. */
const pause = 300;

/**
 * Opens the memory of a session in the background: an agent calls the first tool seconds later.
 *
 * It waits until no call is running, because it would share the processor with it.
 *
 * @param hasRoots whether the client can name roots that decide on the project; they are not asked for.
 * @returns a function that cancels it.
 */
export function warmSoon(app: App, session: Session, hasRoots: () => boolean): () => void {
  const clientRoots = async () => {
    if (hasRoots()) throw new MemoryError('no_project', 'The client has not named its roots.');
    return [];
  };
  let timer: NodeJS.Timeout | undefined;
  const wait = () => {
    timer = setTimeout(warm, pause).unref();
  };
  const warm = () => {
    if (app.isBusy) return wait();
    // A problem is reported by the first call.
    app.warm(session, clientRoots).catch(() => {});
  };
  wait();
  return () => clearTimeout(timer);
}
