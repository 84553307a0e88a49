import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../core/declarations/context.ts';
import { BriefDigest } from './brief-digest.ts';
import { keepDigest, quickMemory } from './digest-keeping.ts';
import { DigestTurn } from './digest-turn.ts';

/** The memory may be changed, as by a checkout, while its digest is built. */
const attempts = 3;
const pause = 1_000;

/**
 * Builds the digest of a large memory in a process that no client waits for, and ends its turn.
 *
 * @param run does work in a call of its own, which reads the memory again.
 */
export async function buildDigest(
  run: <R>(work: (context: Context) => Promise<R>) => Promise<R>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await run((context) => keepDigest(context));
    const isBuilt = await run(hasDigest);
    if (isBuilt || attempt === attempts) return run((context) => endTurn(context, isBuilt));
    await sleep(pause);
  }
}

async function hasDigest(context: Context): Promise<boolean> {
  const memory = await quickMemory(context);
  try {
    return memory !== undefined && BriefDigest.read(memory)?.isWhole === true;
  } finally {
    memory?.close();
  }
}

async function endTurn(context: Context, isBuilt: boolean): Promise<void> {
  const memory = await quickMemory(context);
  if (memory) await new DigestTurn(memory).end(isBuilt);
}
