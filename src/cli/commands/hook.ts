import { App, redactText } from '../../app/app.ts';
import { hookEvents, readEvent } from '../../app/hook/client-event.ts';
import { answerHook } from '../../app/hook/hook-answer.ts';
import type { Command, Invocation } from '../command.ts';
import { printable } from '../terminal.ts';

/** Largest input that is read, in bytes. */
const maxInput = 512 * 1024;
/** Longest time that a hook may take, in milliseconds; clients wait for it. */
const maxTime = 5_000;

/** `memory-bank hook <event>`: answers an event of a client's session, and never fails. */
export const hook: Command = {
  about: `answer an event of an agent session, read as JSON from stdin: ${hookEvents.join(', ')}`,
  operands: ['event?'],
  async run(invocation) {
    try {
      const answer = await answerOf(invocation);
      if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
    } catch (error) {
      debug(error instanceof Error ? error.message : String(error));
    }
    return 0;
  },
};

async function answerOf({ options, operands, version }: Invocation): Promise<object | undefined> {
  const name = hookEvents.find((one) => one === operands[0]);
  if (name === undefined) return debug(`There is no event "${operands[0] ?? ''}".`);
  const input = await readInput();
  if (input === undefined) return debug(`The input is missing or exceeds ${maxInput} bytes.`);
  const event = readEvent(name, input);
  if (!event) return debug('The input is not a JSON object.');
  const cwd = event.cwd ?? options.place.cwd;
  const log: typeof options.log = (level, message) => debug(`${level}: ${message}`);
  const app = new App({ ...options, place: { ...options.place, cwd }, log });
  const session = app.connect();
  session.agent = `${event.client}-hook/${version}`;
  try {
    const signal = AbortSignal.timeout(maxTime);
    return await app.run(session, 'hook', { signal }, (context) => answerHook(context, event));
  } finally {
    await app.close();
  }
}

/** Returns the text on stdin; undefined for a terminal and for a text that is too long. */
async function readInput(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of process.stdin) {
    bytes += piece.length;
    if (bytes > maxInput) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Writes to stderr why a hook says nothing, with `DEBUG=true`. */
function debug(message: string): undefined {
  if (process.env.DEBUG !== 'true') return;
  process.stderr.write(`memory-bank: hook: ${printable(redactText(message))}\n`);
}
