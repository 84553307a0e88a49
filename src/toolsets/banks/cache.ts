import { createHash } from 'node:crypto';
import type { Context } from '../../core/context.ts';
import { toMemoryError } from '../../core/error.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { LocalState } from '../../core/store.ts';
import { type Bank, storeOf } from './bank.ts';
import { contentBudget, summaryLimit } from './budget.ts';
import { bytesOf, summarize } from './summary.ts';

/** A summary, and the hash of the text that it was made of. */
interface Entry extends JsonObject {
  of: string;
  summary: string;
}

/** What the cache still knows of a bank: the summary of each document that has not changed since. */
export async function cachedSummaries(
  local: LocalState,
  bank: Bank,
): Promise<ReadonlyMap<string, string>> {
  const kept = await local.get(keyOf(bank));
  const summaries = new Map<string, string>();
  for (const { file, value } of bank.files) {
    const entry = isObject(kept) && Object.hasOwn(kept, file) ? kept[file] : undefined;
    if (isEntry(entry) && entry.of === hash(value.body)) summaries.set(file, entry.summary);
  }
  return summaries;
}

/**
 * Brings the cache of a bank up to date (1.16): a summary of each document that is too long to be one.
 *
 * A summary whose document has not changed is kept, whoever made it.
 *
 * @returns whether it was written, and whether the bank has outgrown its budget, so that answers make
 *   use of the summaries.
 */
export async function rebuildCache(
  context: Context,
  bank: Bank,
): Promise<{ readonly cache_updated: boolean; readonly cache_optimized: boolean }> {
  const { local } = storeOf(context, bank.type);
  try {
    const known = await cachedSummaries(local, bank);
    const entries: { [file: string]: Entry } = {};
    let size = 0;
    for (const { file, value } of bank.files) {
      const bytes = bytesOf(value.body);
      size += bytes;
      if (bytes <= summaryLimit) continue;
      const summary = known.get(file) ?? summarize(value.body, summaryLimit);
      entries[file] = { of: hash(value.body), summary };
    }
    await local.set(keyOf(bank), entries);
    return { cache_updated: true, cache_optimized: size > contentBudget };
  } catch (thrown) {
    // The document is committed by now: what can be made again must not make the call fail.
    context.log('warning', `Cache of ${bank.folder} not rebuilt: ${toMemoryError(thrown).text}`);
    return { cache_updated: false, cache_optimized: false };
  }
}

function keyOf(bank: Bank): string {
  return `banks/${bank.folder}/summaries`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function isEntry(value: unknown): value is Entry {
  return isObject(value) && typeof value.of === 'string' && typeof value.summary === 'string';
}
