import { constants, setPriority } from 'node:os';
import { App, type AppOptions, redactText } from '../../app/app.ts';
import {
  hookAgent,
  hookEvents,
  namedClients,
  printedAnswer,
  readEvent,
} from '../../app/hook/client-event.ts';
import { buildDigest } from '../../app/hook/digest-building.ts';
import { isUsual, keepDigest } from '../../app/hook/digest-keeping.ts';
import { buildingEvent, leaveDigest } from '../../app/hook/digest-turn.ts';
import { answerHook } from '../../app/hook/hook-answer.ts';
import { contextMemory } from '../../app/hook/hook-memory.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { Session } from '../../core/memory/session.ts';
import type { Command, Invocation } from '../line/command.ts';
import { maxHookInput, readHookInput } from '../process/hook-input.ts';
import { printable } from '../screen/terminal.ts';
import { startDigestBuilder } from '../setup/program/digest-builder.ts';

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
  if (operands[0] === buildingEvent) return build(options);
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
  const keeps = isUsual(options);
  const leave = () => leaveLarge(app, session);
  let isLeft = false;
  try {
    const signal = AbortSignal.timeout(maxTime);
    const work = async (context: Context) => {
      // Before the hook notes at which commit the session begins.
      if (name === 'session-start') await context.catchUp();
      return answerHook(await contextMemory(context), event);
    };
    const found = await app.run(session, 'hook', { signal }, work);
    if (keeps) {
      // A digest that could not answer a prompt lacks what is known against a record.
      const renews = given !== undefined && name === 'prompt';
      const keep = async (context: Context) => {
        isLeft = !(await keepDigest(context, { renews, leavesLarge: true }));
      };
      // It only saves time: without room for it, the answer is as good.
      await app.run(session, 'hook', { signal }, keep).catch(({ message }) => debug(message));
    }
    return found;
  } catch (error) {
    // After too long a time, the end of this process may not be reached.
    if (keeps) await leave();
    throw error;
  } finally {
    // It stores the records that it has read, so that the builder does not read them again.
    await app.close();
    if (isLeft) await leave();
  }
}

/** Leaves the digest of a large memory to another process. */
async function leaveLarge(app: App, session: Session): Promise<void> {
  try {
    const root = await app.root(session);
    await leaveDigest(root, () => startDigestBuilder(root));
  } catch (error) {
    // The answer does not depend on it.
    debug(error instanceof Error ? error.message : String(error));
  }
}

/** Builds the digest of a large memory while no client waits: a hook has started this process. */
async function build(options: AppOptions): Promise<undefined> {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It is not allowed here.
  }
  const app = new App({ ...options, log: (level, message) => debug(`${level}: ${message}`) });
  try {
    await buildDigest((work) => app.run(app.connect(), 'hook', {}, work));
  } finally {
    await app.close();
  }
}

/** Writes to stderr why a hook says nothing, with `DEBUG=true`. */
function debug(message: string): undefined {
  if (process.env.DEBUG !== 'true') return;
  process.stderr.write(`memory-bank: hook: ${printable(redactText(message))}\n`);
}
