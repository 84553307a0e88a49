import { sessionHeaders } from './page-session.ts';

/** The pause before a broken stream is opened again, in milliseconds. */
const retryAfter = 3_000;

interface Listener {
  /** Called each time that the stream is open. */
  onOpen(): void;
  onEvent(): void;
}

/**
 * Reads a stream of server-sent events until the signal, and opens it again if it breaks.
 *
 * `EventSource` cannot send the header of the session.
 */
export async function followStream(
  address: string,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // The next attempt follows, whatever has ended this one.
    await readStream(address, listener, signal).catch(() => {});
    await pause(retryAfter, signal);
  }
}

async function readStream(
  address: string,
  { onOpen, onEvent }: Listener,
  signal: AbortSignal,
): Promise<void> {
  const headers = { Accept: 'text/event-stream', ...sessionHeaders() };
  const response = await fetch(address, { credentials: 'same-origin', headers, signal });
  const reader = response.ok ? response.body?.getReader() : undefined;
  if (!reader) return;
  onOpen();
  const decoder = new TextDecoder();
  let line = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (line + decoder.decode(value, { stream: true })).split('\n');
    line = lines.pop() ?? '';
    for (const one of lines) if (one.startsWith('data:')) onEvent();
  }
}

/** Resolves after a time, or when the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, milliseconds);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });
}
