import { existsSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  type ClientEvent,
  hookAgent,
  hookEvents,
  namedClients,
  printedAnswer,
  readEvent,
} from '../app/hook/client-event.ts';
import { leaveDigest } from '../app/hook/digest-turn.ts';
import { answerHook } from '../app/hook/hook-answer.ts';
import { QuickHookMemory } from '../app/hook/quick-hook-memory.ts';
import { isPlacedApart } from '../app/session/placed-apart.ts';
import { findRoot, startDirectory } from '../app/session/root.ts';
import { syncInterval } from '../app/session/sync-interval.ts';
import { memoryFolderName } from '../core/declarations/workspace.ts';
import { isDevice, readHookInput } from './process/hook-input.ts';
import { programVersion } from './process/program-version.ts';
import { startDigestBuilder } from './setup/program/digest-builder.ts';

/** The work that is left to the whole program, with the input that was read already. */
export interface Remainder {
  readonly input?: string | undefined;
}

const version = programVersion(import.meta.dirname);

/**
 * Answers `hook <event>` and `brief` from the digest of the memory, in a fraction of the time that the
 * whole program takes to load.
 *
 * @returns undefined if it has written the answer.
 */
export async function answer(
  args: readonly string[],
  packageFolder: string,
): Promise<Remainder | undefined> {
  const [command, name, ...others] = args;
  const { env } = process;
  const client = namedClients.find((one) => one === others[0]);
  // The digest is that of a session without settings.
  if (others.length > (client ? 1 : 0) || env.MEMORY_BANK_TOOLSETS || env.DEBUG === 'true')
    return {};
  if (command === 'brief') {
    const isPlain = name === undefined && !isDevice(1);
    return isPlain && (await answerBrief(packageFolder)) ? undefined : {};
  }
  const event = hookEvents.find((one) => one === name);
  if (command !== 'hook' || event === undefined) return {};
  const input = await readHookInput();
  const read = input === undefined ? undefined : readEvent(event, input, client);
  return read && (await answerEvent(read, packageFolder)) ? undefined : { input };
}

/** Writes the brief; returns false if the whole program has to. */
async function answerBrief(packageFolder: string): Promise<boolean> {
  const agent = `memory-bank-cli/${version}`;
  return quickly(packageFolder, undefined, { agent, isForAction: false }, async (memory) => {
    const composed = await memory.brief();
    if (composed === 'unknown') return false;
    if (composed.text !== '') await print(`${composed.text}\n`);
    return true;
  });
}

/** Writes the answer to an event; returns false if the whole program has to. */
async function answerEvent(event: ClientEvent, packageFolder: string): Promise<boolean> {
  const agent = hookAgent(event, version);
  const isForAction = event.event === 'action';
  return quickly(packageFolder, event.cwd, { agent, isForAction }, async (memory) => {
    const found = await answerHook(memory, event);
    if (found === 'unknown') return false;
    if (found !== undefined) await print(`${printedAnswer(found)}\n`);
    return true;
  });
}

/** Writes to stdout without the streams of node, which would take longer to load. */
async function print(text: string): Promise<void> {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // The reader is slow, and the pipe is full.
    if (code === 'EAGAIN') await new Promise((done) => process.stdout.write(rest, done));
    else if (code !== 'EPIPE') throw error;
  }
}

/**
 * Works with the memory of the current project.
 *
 * @param work returns false if the digest does not say enough.
 * @returns false if there is no valid digest, or it does not say enough.
 */
async function quickly(
  packageFolder: string,
  folder: string | undefined,
  { agent, isForAction }: { readonly agent: string; readonly isForAction: boolean },
  work: (memory: QuickHookMemory) => Promise<boolean>,
): Promise<boolean> {
  const { env } = process;
  const started = process.cwd();
  try {
    const cwd = folder ?? startDirectory(env, process.cwd(), packageFolder);
    const input = { flag: undefined, env, cwd, home: homedir(), clientRoots: async () => [] };
    const root = (await findRoot(input)).path;
    // The whole program finds a memory that is apart from the code.
    if (isPlacedApart(root)) return false;
    const path = join(root, memoryFolderName);
    // A project without a memory has nothing to say.
    if (!existsSync(path)) return true;
    const fetches = syncInterval(env, () => undefined) > 0;
    const memory = QuickHookMemory.open(path, agent, fetches, isForAction);
    // Many actions follow each other, so none of them waits for all records of a large memory.
    if (!memory) return isForAction && (await leaveDigest(root, () => startDigestBuilder(root)));
    // The stat of a file takes less time by a short path.
    process.chdir(path);
    const isAnswered = await work(memory);
    if (!isAnswered) process.chdir(started);
    return isAnswered;
  } catch {
    // The whole program answers what this one cannot read, and says what is wrong.
    process.chdir(started);
    return false;
  }
}
