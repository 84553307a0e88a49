import { App, redactText } from '../../app/app.ts';
import {
  hookAgent,
  hookEvents,
  namedClients,
  printedAnswer,
  readEvent,
} from '../../app/hook/client-event.ts';
import { isUsual, keepDigest } from '../../app/hook/digest-keeping.ts';
import { answerHook } from '../../app/hook/hook-answer.ts';
import { contextMemory } from '../../app/hook/hook-memory.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { Command, Invocation } from '../line/command.ts';
import { maxHookInput, readHookInput } from '../process/hook-input.ts';
import { printable } from '../screen/terminal.ts';

/** Longest time that a hook may take, in milliseconds; clients wait for it. */
const maxTime = 5_000;

/** `memory-bank hook <event> [<client>]`: answers an event of a client's session, and never fails. */
export const hook: Command = {
  about: `answer an event of an agent session; read as JSON from stdin: ${hookEvents.join(', ')}`,
  operands: ['event?', 'client?'],
  async run(invocation) {
    try {
      const answer = await answerOf(invocation);
      if (answer !== undefined) process.stdout.write(`${printedAnswer(answer)}\n`);
    } catch (error) {
      debug(error instanceof Error ? error.message : String(error));
    }
    return 0;
  },
};

async function answerOf(invocation: Invocation): Promise<object | undefined> {
  const { options, operands, version, input: given } = invocation;
  const name = hookEvents.find((one) => one === operands[0]);
  if (name === undefined) return debug(`There is no event "${operands[0] ?? ''}".`);
  const client = namedClients.find((one) => one === operands[1]);
  if (client === undefined && operands[1] !== undefined)
    return debug(`There is no client "${operands[1]}".`);
  const input = given ?? (await readHookInput());
  if (input === undefined) return debug(`The input is missing or exceeds ${maxHookInput} bytes.`);
  const event = readEvent(name, input, client);
  if (!event) return debug('The input is not a JSON object.');
  const cwd = event.cwd ?? options.place.cwd;
  const log: typeof options.log = (level, message) => debug(`${level}: ${message}`);
  const app = new App({ ...options, place: { ...options.place, cwd }, log });
  const session = app.connect();
  session.agent = hookAgent(event, version);
  try {
    const signal = AbortSignal.timeout(maxTime);
    const work = async (context: Context) => {
      // Before the hook notes at which commit the session begins.
      if (name === 'session-start') await context.catchUp();
      return answerHook(await contextMemory(context), event);
    };
    const found = await app.run(session, 'hook', { signal }, work);
    if (isUsual(options)) {
      // A digest that could not answer a prompt lacks what is known against a record.
      const renews = given !== undefined && name === 'prompt';
      const keep = (context: Context) => keepDigest(context, renews);
      // It only saves time: without room for it, the answer is as good.
      await app.run(session, 'hook', { signal }, keep).catch(({ message }) => debug(message));
    }
    return found;
  } finally {
    await app.close();
  }
}

/** Writes to stderr why a hook says nothing, with `DEBUG=true`. */
function debug(message: string): undefined {
  if (process.env.DEBUG !== 'true') return;
  process.stderr.write(`memory-bank: hook: ${printable(redactText(message))}\n`);
}
