import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { type ClientEvent, hookAgent, hookEvents, readEvent } from '../app/hook/client-event.ts';
import { answerHook } from '../app/hook/hook-answer.ts';
import { QuickHookMemory } from '../app/hook/quick-hook-memory.ts';
import { findRoot, memoryFolderName, startDirectory } from '../app/root.ts';
import { readHookInput } from './hook-input.ts';

/** The work that is left to the whole program, with the input that was read already. */
export interface Remainder {
  readonly input?: string | undefined;
}

const { version } = packageJson;

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
  // The digest is that of a session without settings.
  const isUsual = !env.MEMORY_BANK_TOOLSETS && !env.MEMORY_BANK_DEFAULT_TOOLSETS;
  if (others.length > 0 || !isUsual || env.DEBUG === 'true') return {};
  if (command === 'brief') {
    const isPlain = name === undefined && !process.stdout.isTTY;
    return isPlain && (await answerBrief(packageFolder)) ? undefined : {};
  }
  const event = hookEvents.find((one) => one === name);
  if (command !== 'hook' || event === undefined) return {};
  const input = await readHookInput();
  const read = input === undefined ? undefined : readEvent(event, input);
  return read && (await answerEvent(read, packageFolder)) ? undefined : { input };
}

/** Writes the brief; returns false if the whole program has to. */
async function answerBrief(packageFolder: string): Promise<boolean> {
  return quickly(packageFolder, undefined, `memory-bank-cli/${version}`, async (memory) => {
    const { text } = await memory.brief();
    if (text !== '') process.stdout.write(`${text}\n`);
  });
}

/** Writes the answer to an event; returns false if the whole program has to. */
async function answerEvent(event: ClientEvent, packageFolder: string): Promise<boolean> {
  return quickly(packageFolder, event.cwd, hookAgent(event, version), async (memory) => {
    const found = await answerHook(memory, event);
    if (found !== undefined) process.stdout.write(`${JSON.stringify(found)}\n`);
  });
}

/**
 * Works with the memory of the current project.
 *
 * @returns false if there is no valid digest, or the work needs more than that.
 */
async function quickly(
  packageFolder: string,
  folder: string | undefined,
  agent: string,
  work: (memory: QuickHookMemory) => Promise<void>,
): Promise<boolean> {
  const { env } = process;
  try {
    const cwd = folder ?? startDirectory(env, process.cwd(), packageFolder);
    const input = { flag: undefined, env, cwd, home: homedir(), clientRoots: async () => [] };
    const path = join((await findRoot(input)).path, memoryFolderName);
    // A project without a memory has nothing to say.
    if (!existsSync(path)) return true;
    const memory = QuickHookMemory.open(path, import.meta.dirname, agent);
    if (!memory) return false;
    await work(memory);
    return true;
  } catch {
    // The whole program answers what this one cannot, and says what is wrong.
    return false;
  }
}
