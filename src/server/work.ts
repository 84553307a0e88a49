import type { CallOptions } from '../call.ts';
import type { Session } from '../core/session.ts';
import type { Invocation } from './command.ts';

/**
 * Does the work of one command in a session of its own: one run of the program is one session.
 *
 * An interrupt from the terminal cancels the call under way, which then writes nothing.
 */
export async function inSession<R>(
  { app, version }: Invocation,
  work: (session: Session, options: CallOptions) => Promise<R>,
): Promise<R> {
  const session = app.connect();
  session.agent = `memory-bank-cli/${version}`;
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());
  try {
    return await work(session, { signal: interrupt.signal });
  } finally {
    await app.close();
  }
}
