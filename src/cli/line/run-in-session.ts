import type { CallOptions } from '../../app/session/call-context.ts';
import { counted } from '../../core/answers/painter.ts';
import type { Session } from '../../core/memory/session.ts';
import { printable, Screen } from '../screen/terminal.ts';
import type { Invocation } from './command.ts';

/**
 * Runs the work of one command in its own session: one run of the program is one session.
 *
 * An interrupt from the terminal cancels the running call, which then writes nothing. A long call
 * shows its progress.
 */
export async function inSession<R>(
  { app, version, client }: Invocation,
  work: (session: Session, options: CallOptions) => Promise<R>,
): Promise<R> {
  const session = app.connect(client);
  session.agent = `memory-bank-cli/${version}`;
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());
  const line = new ProgressLine(process.stderr);
  const progress: CallOptions['progress'] = (...step) => line.show(...step);
  const onWait = (text: string) => line.wait(text);
  try {
    return await work(session, { signal: interrupt.signal, progress, onWait });
  } finally {
    line.clear();
    await app.close();
  }
}

/** Runs the work of a command that reads; a note names the records that git left in conflict. */
export function inReadingSession<R>(
  invocation: Invocation,
  work: (session: Session, options: CallOptions) => Promise<R>,
): Promise<R> {
  return inSession(invocation, async (session, options) => {
    const result = await work(session, options);
    const [path, ...others] = await invocation.app.run(session, 'conflicts', options, (context) =>
      context.project.conflicts(),
    );
    if (path !== undefined) {
      const more = others.length === 0 ? ' is' : ` and ${counted(others.length, 'other file')} are`;
      const way = '"memory-bank resolve" merges what git left unmerged';
      process.stderr.write(`memory-bank: note: ${printable(path)}${more} in conflict: ${way}.\n`);
    }
    return result;
  });
}

/** A progress line in a terminal, shown while a call runs. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  #shown = false;
  #hasWaited = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  show(done: number, total: number, message: string): void {
    if (done >= total) this.clear();
    else if (this.#stream.isTTY) this.#write(`${message}: ${done} of ${total}`);
  }

  /** Shows what a call waits for; outside a terminal only once. */
  wait(text: string): void {
    if (this.#stream.isTTY) this.#write(text);
    else if (!this.#hasWaited) this.#stream.write(`memory-bank: ${printable(text)}\n`);
    this.#hasWaited = true;
  }

  #write(text: string): void {
    this.#stream.write(`\r${new Screen(this.#stream).fit(text)}\u001b[K`);
    this.#shown = true;
  }

  clear(): void {
    if (this.#shown) this.#stream.write('\r\u001b[K');
    this.#shown = false;
  }
}
