import { join } from 'node:path';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { isObject, type JsonObject, own } from '../../core/values/json.ts';
import { workTreeState } from '../../store/derived/derived-name.ts';
import { QuickMemory } from '../../store/session/quick-memory.ts';

/** The operand of `memory-bank hook` that builds the digest. */
export const buildingEvent = 'build-digest';
/** No client waits for the digest of a memory with more files than this. */
export const fewFiles = 1_000;
/** A builder is ended after this time by `main.cjs`, in milliseconds. */
const longestBuild = 300_000;
/** Time until the next builder after one that could store nothing, in milliseconds. */
const failedPause = 600_000;

const stateKey = 'builders';

/**
 * The turn of a process that builds the digest of a large memory while no client waits.
 *
 * The state of the hooks has the time until which no other one is started, so that there is one at a time,
 * and none for each hook where the memory can have no digest.
 */
export class DigestTurn {
  readonly #hooks: QuickMemory['hooks'];
  readonly #name: string;

  constructor({ hooks, root }: QuickMemory) {
    this.#hooks = hooks;
    this.#name = workTreeState(root);
  }

  /** Takes the turn; returns false if another process has it. */
  async take(now = Date.now()): Promise<boolean> {
    return this.#hooks.exclusively(async () => {
      const until = own(await this.#builders(), this.#name);
      // A clock that was put back does not make the time longer.
      if (typeof until === 'number' && until > now && until <= now + failedPause) return false;
      return this.#save(now, now + longestBuild);
    });
  }

  /** @param isBuilt whether the next process may begin at once. */
  async end(isBuilt: boolean, now = Date.now()): Promise<void> {
    const until = isBuilt ? undefined : now + failedPause;
    await this.#hooks.exclusively(() => this.#save(now, until));
  }

  async #save(now: number, until: number | undefined): Promise<boolean> {
    const { [this.#name]: _, ...others } = await this.#builders();
    const kept = Object.entries(others).filter(([, time]) => Number(time) > now);
    const mine = until === undefined ? [] : [[this.#name, until] as const];
    return this.#hooks.local.set(stateKey, Object.fromEntries([...kept, ...mine]));
  }

  async #builders(): Promise<JsonObject> {
    const builders = await this.#hooks.local.get(stateKey);
    return isObject(builders) ? builders : {};
  }
}

/**
 * Leaves the digest of a large memory to a process that no client waits for, unless one is at work.
 *
 * @param root the real path of the project.
 * @param start starts that process.
 * @returns false for a memory that is small, or has to be repaired first.
 */
export async function leaveDigest(root: string, start: () => Promise<void>): Promise<boolean> {
  const memory = QuickMemory.at(join(root, memoryFolderName));
  if (!memory || memory.filesState(fewFiles) !== undefined) return false;
  if (await new DigestTurn(memory).take()) await start();
  return true;
}
