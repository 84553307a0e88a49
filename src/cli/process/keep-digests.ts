import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { App, AppOptions } from '../../app/app.ts';
import type { Session } from '../../core/memory/session.ts';
import type { Invocation } from '../line/command.ts';

/** How long a server is idle after a commit before it renews the digest, in milliseconds. */
const pause = 1_000;
/** How long a server that ends waits after its last commit, in milliseconds. */
const lastPause = 100;

/**
 * Renews the digest of a memory after the commits of a server, so that no hook has to.
 *
 * @returns a function that ends this, and renews what is left.
 */
export function keepDigests(
  app: App,
  { options }: Pick<Invocation, 'options'>,
): () => Promise<void> {
  let changed: Session | undefined;
  let timer: NodeJS.Timeout | undefined;
  let renewing = Promise.resolve();
  const renew = () => {
    clearTimeout(timer);
    timer = undefined;
    const session = changed;
    changed = undefined;
    // The digest only saves time, so a failure is not reported.
    if (session) renewing = renewing.then(() => renewed(app, session, options)).catch(() => {});
    return renewing;
  };
  app.observe(({ session, commits }) => {
    if (commits === 0) return;
    changed = session;
    clearTimeout(timer);
    timer = setTimeout(renew, pause).unref();
  });
  return async () => {
    // Files that have just changed could change again without another time.
    if (changed) await sleep(lastPause);
    await renew();
  };
}

async function renewed(app: App, session: Session, { mode }: AppOptions): Promise<void> {
  // Loaded here, because a server that only reads does without it.
  const { isUsual, keepDigest } = await import('../../app/hook/digest-keeping.ts');
  if (!isUsual({ mode })) return;
  const root = await app.root(session);
  // A session of its own is in no mode.
  const own = app.connect({ roots: async () => [pathToFileURL(root).href] });
  await app.run(own, 'digest', {}, (context) => keepDigest(context));
}
