import { createHash } from 'node:crypto';
import type { Context } from '../../core/context.ts';
import { toMemoryError } from '../../core/error.ts';
import { isObject, type JsonObject, own } from '../../core/json.ts';
import { type Bank, storeOf } from './bank.ts';
import { contentBudget, summaryLimit } from './budget.ts';
import { bytesOf, summarize } from './summary.ts';

/** A model is handed at most so many bytes of a text: of a longer one, its own summary of this size. */
const maxModelText = 64 * 1024;

/** A summary, and the hash of the text that it was made of. */
interface CachedSummary extends JsonObject {
  of: string;
  summary: string;
}

/**
 * Cached summaries of the texts of one bank, which are never committed.
 *
 * A summary is valid only until its text changes.
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

  /** @param texts the documents of the bank and its sources, by name. */
  static async open(
    context: Context,
    bank: Bank,
    texts: ReadonlyMap<string, string>,
  ): Promise<SummaryCache> {
    const kept = await keptOf(context, bank);
    const entries = new Map<string, CachedSummary>();
    for (const [name, text] of texts) {
      const entry = own(kept, name);
      if (isEntry(entry) && entry.of === hash(text)) entries.set(name, entry);
    }
    return new SummaryCache(context, bank, texts, entries);
  }

  /** The summary that is kept of the text with this name. */
  summaryOf(name: string): string | undefined {
    return this.#entries.get(name)?.summary;
  }

  /**
   * Brings what is kept up to date: a summary of each text that is too long to be one.
   *
   * @returns whether it was written, and whether it holds summaries that answers make use of: the bank
   *   has outgrown its budget.
   */
  async rebuild(): Promise<{ readonly cache_updated: boolean; readonly cache_optimized: boolean }> {
    try {
      const entries: { [name: string]: CachedSummary } = {};
      for (const [name, text] of this.#long()) {
        const summary = () => summarize(text, summaryLimit);
        entries[name] = this.#entries.get(name) ?? { of: hash(text), summary: summary() };
      }
      const written = await keep(this.#context, this.#bank, entries);
      const used = this.#outgrown && Object.keys(entries).length > 0;
      return { cache_updated: written, cache_optimized: written && used };
    } catch (thrown) {
      // The document is committed by now: what can be made again must not make the call fail.
      const why = toMemoryError(thrown).text;
      this.#context.log('warning', `Cache of ${this.#bank.folder} not rebuilt: ${why}`);
      return { cache_updated: false, cache_optimized: false };
    }
  }

  /**
   * Asks the model, where one is configured, for the summaries that answers make use of.
   *
   * They are there for later answers; until then, and when it fails, those of `summarize` serve.
   */
  refine(): void {
    const { summarizer } = this.#context;
    if (!summarizer || !this.#outgrown) return;
    for (const [file, text] of this.#long()) {
      if (this.#entries.get(file)?.by === summarizer.model) continue;
      const of = hash(text);
      const part = () => summarize(text, maxModelText);
      const request = { id: of, file, text: part, limit: summaryLimit };
      summarizer.request(request, async (said) => {
        const entry = { of, summary: summarize(said, summaryLimit), by: summarizer.model };
        const kept = await keptOf(this.#context, this.#bank);
        await keep(this.#context, this.#bank, { ...kept, [file]: entry });
      });
    }
  }

  get #outgrown(): boolean {
    let size = 0;
    for (const text of this.#texts.values()) size += bytesOf(text);
    return size > contentBudget;
  }

  /** The texts that are too long to be their own summaries. */
  #long(): [name: string, text: string][] {
    return [...this.#texts].filter(([, text]) => bytesOf(text) > summaryLimit);
  }
}

async function keptOf(context: Context, bank: Bank): Promise<JsonObject> {
  const kept = await storeOf(context, bank.type).local.get(keyOf(bank));
  return isObject(kept) ? kept : {};
}

function keep(context: Context, bank: Bank, entries: JsonObject): Promise<boolean> {
  return storeOf(context, bank.type).local.set(keyOf(bank), entries);
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
