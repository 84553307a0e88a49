import type { Context } from '../../core/declarations/context.ts';
import { QuickMemory } from '../../store/session/quick-memory.ts';
import { briefSource, listedTools } from '../../toolsets/index.ts';
import type { AppOptions } from '../app.ts';
import { isPlacedApart } from '../session/placed-apart.ts';
import { BriefDigest } from './brief-digest.ts';
import { writeDigest } from './digest-writer.ts';
import { QuickHookMemory } from './quick-hook-memory.ts';

export interface DigestKeeping {
  /** Whether a valid digest could not answer, so that a new one is worth its time. */
  readonly renews?: boolean;
  /** Whether a new base of a large memory is left to another process. */
  readonly leavesLarge?: boolean;
}

/** Whether sessions have no settings that change what they read: the digest is for these only. */
export function isUsual({ mode }: Pick<AppOptions, 'mode'>): boolean {
  return mode === undefined;
}

/**
 * Stores the digest of the memory for the next hook, unless there is a valid one.
 *
 * @param context of a call that has not read the memory yet.
 * @returns false if it is left to another process.
 */
export async function keepDigest(
  context: Context,
  { renews = false, leavesLarge = false }: DigestKeeping = {},
): Promise<boolean> {
  const memory = await quickMemory(context);
  if (!memory) return true;
  try {
    const digest = BriefDigest.read(memory);
    const isDamaged = digest?.isWhole === false;
    const isKept = digest !== undefined && !isDamaged && (await canAnswer(memory, digest));
    if (isKept && !renews) return true;
    const { states } = context.store;
    const input = { source: briefSource(context), states, tools: listedTools() };
    if (isKept && !(await digest.isSearchable())) {
      await states.saveIndex();
      return true;
    }
    // A digest that is kept lacks doubts about the records of the prompt, which have to be found out again.
    return await writeDigest(memory, input, isKept || isDamaged, leavesLarge);
  } finally {
    memory.close();
  }
}

/** The memory of a call as a hook reads it; undefined if it can have no digest. */
export async function quickMemory(context: Context): Promise<QuickMemory | undefined> {
  const { initialized, folder, root } = await context.project.site();
  return initialized && !isPlacedApart(root) ? QuickMemory.at(folder) : undefined;
}

/** Whether the next hook can answer without reading a record. */
async function canAnswer(memory: QuickMemory, digest: BriefDigest): Promise<boolean> {
  try {
    return (await new QuickHookMemory(memory, digest, '', false).brief()) !== 'unknown';
  } catch {
    // A part of it is damaged.
    return false;
  }
}
