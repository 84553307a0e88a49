import type { Context } from '../../core/context.ts';
import { QuickMemory } from '../../store/quick-memory.ts';
import { briefSource, listedTools } from '../../toolsets/index.ts';
import type { AppOptions } from '../app.ts';
import { isPlacedApart } from '../placed-apart.ts';
import { readDigest, writeDigest } from './brief-digest.ts';
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
export async function keepDigest(context: Context, build: string, renews = false): Promise<void> {
  const { initialized, folder, root } = await context.project.info();
  const memory = initialized && !isPlacedApart(root) ? QuickMemory.at(folder) : undefined;
  if (!memory) return;
  try {
    if (await isKept(memory, build, renews)) return;
    const tools = listedTools();
    await writeDigest(memory, build, { source: briefSource(context), tools }, (noteOf) => {
      return context.store.encodeSearch(noteOf);
    });
  } finally {
    memory.close();
  }
}

/** Whether the next hook can answer without reading a record. */
async function isKept(memory: QuickMemory, build: string, renews: boolean): Promise<boolean> {
  const digest = readDigest(memory, build);
  if (!digest?.isWhole || (renews && digest.isSearchable)) return false;
  return new QuickHookMemory(memory, digest, '').brief().then(
    () => true,
    () => false,
  );
}
