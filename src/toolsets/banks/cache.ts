import { createHash } from 'node:crypto';
import type { Context } from '../../core/declarations/context.ts';
import { toMemoryError } from '../../core/values/error.ts';
import { isObject, type JsonObject, own } from '../../core/values/json.ts';
import { type Bank, storeOf } from './bank.ts';
import { contentBudget, summaryLimit } from './budget.ts';
import { bytesOf, summarize } from './summary.ts';

/** Maximum size of a text that the model gets, in bytes; it gets an extract of a longer one. */
export const maxModelText = 64 * 1024;

/** A summary, and the hash of the text that it was made from. */
interface CachedSummary extends JsonObject {
  of: string;
  summary: string;
}

/**
 * Cache of the summaries of one bank's texts; it is never committed.
 *
 * A summary is valid until its text changes.
 */
export class SummaryCache {
  readonly #context: Context;
  readonly #bank: Bank;
  readonly #texts: ReadonlyMap<string, string>;
  readonly #entries: ReadonlyMap<string, CachedSummary>;

  private constructor(
    context: Context,
    bank: Bank,
    texts: ReadonlyMap<string, string>,
    entries: ReadonlyMap<string, CachedSummary>,
  ) {
    this.#context = context;
    this.#bank = bank;
    this.#texts = texts;
    this.#entries = entries;
  }

  /**
   * Loads the cache of a bank.
   *
   * @param texts the documents of the bank and its sources, by name.
   */
  static async open(
    context: Context,
    bank: Bank,
    texts: ReadonlyMap<string, string>,
  ): Promise<SummaryCache> {
    const stored = await load(context, bank);
    const entries = new Map<string, CachedSummary>();
    for (const [name, text] of texts) {
      const entry = own(stored, name);
      if (isEntry(entry) && entry.of === hash(text)) entries.set(name, entry);
    }
    return new SummaryCache(context, bank, texts, entries);
  }

  /** Returns the cached summary of the text with this name. */
  summaryOf(name: string): string | undefined {
    return this.#entries.get(name)?.summary;
  }

  /**
   * Updates the cache: a summary of each text that is longer than a summary.
   *
   * @returns whether the cache was written, and whether it contains summaries that answers use, because
   *   the bank exceeds its budget.
   */
  async rebuild(): Promise<{ readonly cache_updated: boolean; readonly cache_optimized: boolean }> {
    try {
      const entries: { [name: string]: CachedSummary } = {};
      for (const [name, text] of this.#long()) {
        const summary = () => summarize(text, summaryLimit);
        entries[name] = this.#entries.get(name) ?? { of: hash(text), summary: summary() };
      }
      const written = await save(this.#context, this.#bank, entries);
      const used = this.#exceedsBudget && Object.keys(entries).length > 0;
      return { cache_updated: written, cache_optimized: written && used };
    } catch (thrown) {
      // The document is already committed, and the cache can be rebuilt: the call must not fail.
      const why = toMemoryError(thrown).text;
      this.#context.log('warning', `Cache of ${this.#bank.folder} not rebuilt: ${why}`);
      return { cache_updated: false, cache_optimized: false };
    }
  }

  /**
   * Requests the summaries that answers use from the language model, if one is configured.
   *
   * Later answers use them. Until then, or if the model fails, answers use those of `summarize`.
   */
  refine(): void {
    const { summarizer } = this.#context;
    if (!summarizer || !this.#exceedsBudget) return;
    for (const [file, text] of this.#long()) {
      if (this.#entries.get(file)?.by === summarizer.model) continue;
      const of = hash(text);
      const extract = () => summarize(text, maxModelText);
      const request = { id: of, file, text: extract, limit: summaryLimit };
      summarizer.request(request, async (reply) => {
        const entry = { of, summary: summarize(reply, summaryLimit), by: summarizer.model };
        const stored = await load(this.#context, this.#bank);
        await save(this.#context, this.#bank, { ...stored, [file]: entry });
      });
    }
  }

  get #exceedsBudget(): boolean {
    let size = 0;
    for (const text of this.#texts.values()) size += bytesOf(text);
    return size > contentBudget;
  }

  /** Lists the texts that are longer than a summary. */
  #long(): [name: string, text: string][] {
    return [...this.#texts].filter(([, text]) => bytesOf(text) > summaryLimit);
  }
}

async function load(context: Context, bank: Bank): Promise<JsonObject> {
  const stored = await (await storeOf(context, bank.type)).local.get(keyOf(bank));
  return isObject(stored) ? stored : {};
}

async function save(context: Context, bank: Bank, entries: JsonObject): Promise<boolean> {
  return (await storeOf(context, bank.type)).local.set(keyOf(bank), entries);
}

function keyOf(bank: Bank): string {
  return `banks/${bank.folder}/summaries`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function isEntry(value: unknown): value is CachedSummary {
  return isObject(value) && typeof value.of === 'string' && typeof value.summary === 'string';
}
