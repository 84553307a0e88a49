import type { Context } from '../../core/declarations/context.ts';
import { QuickMemory } from '../../store/session/quick-memory.ts';
import { briefSource, listedTools } from '../../toolsets/index.ts';
import type { AppOptions } from '../app.ts';
import { isPlacedApart } from '../session/placed-apart.ts';
import { BriefDigest } from './brief-digest.ts';
import { writeDigest } from './digest-writer.ts';
import { QuickHookMemory } from './quick-hook-memory.ts';

/** Whether sessions have no settings that change what they read: the digest is for these only. */
export function isUsual({ mode }: Pick<AppOptions, 'mode'>): boolean {
  return mode === undefined;
}

/**
 * Stores the digest of the memory for the next hook, unless there is a valid one.
 *
 * @param context of a call that has not read the memory yet.
 * @param renews whether a valid digest could not answer, so that a new one is worth its time.
 */
export async function keepDigest(context: Context, renews = false): Promise<void> {
  const { initialized, folder, root } = await context.project.site();
  const memory = initialized && !isPlacedApart(root) ? QuickMemory.at(folder) : undefined;
  if (!memory) return;
  try {
    const digest = BriefDigest.read(memory);
    const isDamaged = digest?.isWhole === false;
    const isKept = digest !== undefined && !isDamaged && (await canAnswer(memory, digest));
    if (isKept && !renews) return;
    const { states } = context.store;
    const input = { source: briefSource(context), states, tools: listedTools() };
    if (!isKept) await writeDigest(memory, input, isDamaged);
    else if (!(await digest.isSearchable())) await states.saveIndex();
    // The doubts about the records of the prompt have to be found out again.
    else await writeDigest(memory, input, true);
  } finally {
    memory.close();
  }
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
