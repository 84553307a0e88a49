import type { Context } from '../../core/context.ts';
import { QuickMemory } from '../../store/quick-memory.ts';
import { briefSource, listedTools } from '../../toolsets/index.ts';
import type { AppOptions } from '../app.ts';
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
 */
export async function keepDigest(context: Context, build: string): Promise<void> {
  const { initialized, folder } = await context.project.info();
  const memory = initialized ? QuickMemory.at(folder) : undefined;
  if (!memory) return;
  try {
    if (await isKept(memory, build)) return;
    const tools = listedTools();
    await writeDigest(memory, build, { source: briefSource(context), tools }, () => {
      return context.store.encodeSearch();
    });
  } finally {
    memory.close();
  }
}

/** Whether the next hook can answer without reading a record. */
async function isKept(memory: QuickMemory, build: string): Promise<boolean> {
  const digest = readDigest(memory, build);
  if (!digest?.isWhole) return false;
  return new QuickHookMemory(memory, digest, '').brief().then(
    () => true,
    () => false,
  );
}
