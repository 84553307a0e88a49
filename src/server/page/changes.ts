import { followStream } from './event-stream.ts';
import { addressOf } from './request-address.ts';
import { isCopy, projectPath } from './route.ts';

const changes = new EventTarget();

/** The time in which several changes count as one, in milliseconds. */
const burst = 150;

/** Calls back after each change of the memory; returns a function that stops it. */
export function onChange(listener: () => void): () => void {
  changes.addEventListener('change', listener);
  return () => changes.removeEventListener('change', listener);
}

/**
 * Reloads the data of all components after each change of the memory; returns a function that stops it.
 *
 * A browser allows six connections to a server, and a stream of changes takes one for as long as it is
 * open. So a hidden tab has none and catches up when it is shown, and the visible ones share one.
 *
 * @param head the commit at which the first data were read; the server reports a change since then.
 */
export function watchChanges(head: string | undefined): () => void {
  if (isCopy) return () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reload = () => {
    clearTimeout(timer);
    timer = setTimeout(() => changes.dispatchEvent(new Event('change')), burst);
  };
  let stop: (() => void) | undefined;
  const follow = () => {
    if (document.visibilityState === 'hidden') {
      stop?.();
      stop = undefined;
    } else stop ??= shareStream(head, reload);
  };
  const onVisibility = () => {
    const wasHidden = stop === undefined;
    follow();
    if (wasHidden && stop) reload();
  };
  document.addEventListener('visibilitychange', onVisibility);
  follow();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    clearTimeout(timer);
    stop?.();
  };
}

/** Opens the stream of all visible tabs of this project, or follows the tab that has opened it. */
function shareStream(head: string | undefined, reload: () => void): () => void {
  const name = `memory-changes ${projectPath}`;
  const channel = new BroadcastChannel(name);
  const end = new AbortController();
  channel.onmessage = reload;
  const tell = () => {
    channel.postMessage(null);
    reload();
  };
  /** Keeps the stream until the end. */
  const lead = (isFirst: boolean) =>
    new Promise<void>((resolve) => {
      if (end.signal.aborted) return resolve();
      let isComplete = isFirst;
      const onOpen = () => {
        // Changes between two streams are in neither.
        if (!isComplete) tell();
        isComplete = false;
      };
      const address = `${projectPath}${addressOf('/memory/events', { since: head })}`;
      void followStream(address, { onOpen, onEvent: tell }, end.signal).then(resolve);
    });
  void leadOne(name, lead, end.signal);
  return () => {
    end.abort();
    channel.close();
  };
}

/** Runs the work in one tab at a time; where the browser has no locks for it, in each. */
async function leadOne(
  name: string,
  lead: (isFirst: boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  // Only a page of this computer, or one with TLS, has locks.
  const locks: LockManager | undefined = navigator.locks;
  if (!locks) return lead(true);
  try {
    const isDone = await locks.request(name, { ifAvailable: true }, async (lock) => {
      if (lock) await lead(true);
      return lock !== null;
    });
    if (!isDone) await locks.request(name, { signal }, () => lead(false));
  } catch (error) {
    // The tab was hidden before its turn came.
    if (!signal.aborted) throw error;
  }
}
