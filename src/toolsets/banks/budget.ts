import type { JsonObject } from '../../core/values/json.ts';
import { countWithin } from '../../core/values/size-budget.ts';
import { bytesOf, summarize } from './summary.ts';

/** Maximum size of the documents in one answer, in bytes of JSON with names: 6,000 tokens. */
export const contentBudget = 24_000;

/** Maximum size of a summary, in bytes; it is shorter if many documents share the budget. */
export const summaryLimit = 1_200;

/** A text that an answer may contain. */
export interface Part {
  readonly name: string;
  readonly text: string;
  /** A cached summary of the whole text. */
  readonly summary?: string | undefined;
}

/** Whole texts, and summaries of the texts that did not fit. */
export interface Fitted {
  readonly content: { [name: string]: string };
  readonly summaries: { [name: string]: string };
}

/**
 * Fits documents into a budget.
 *
 * If they do not all fit, up to half of the budget goes to summaries and the rest to whole texts.
 *
 * @param parts the most important ones first; they have priority for being whole.
 */
export function withinBudget(parts: readonly Part[], budget: number): Fitted {
  const cost = (name: string, text: string) => bytesOf(name) + bytesOf(text) + 2;
  const whole = new Map(parts.map(({ name, text }) => [name, cost(name, text)]));
  let left = budget - [...whole.values()].reduce((sum, bytes) => sum + bytes, 0);
  if (left >= 0)
    return { content: sorted(parts.map(({ name, text }) => [name, text])), summaries: {} };

  left = budget;
  const share = Math.min(summaryLimit, Math.floor(budget / 2 / parts.length));
  const briefs = new Map<string, string>();
  for (const { name, text, summary } of parts) {
    const brief = summarize(summary ?? text, share - bytesOf(name) - 2);
    if (brief === '' || cost(name, brief) > left) continue;
    briefs.set(name, brief);
    left -= cost(name, brief);
  }
  const content: [string, string][] = [];
  for (const [rank, { name, text }] of parts.entries()) {
    const brief = briefs.get(name);
    const room = left + (brief === undefined ? 0 : cost(name, brief));
    if ((whole.get(name) ?? 0) <= room) {
      content.push([name, text]);
      briefs.delete(name);
      left = room - (whole.get(name) ?? 0);
    } else if (rank === 0) {
      // The most important document does not fit: use all remaining room for its summary.
      const longer = summarize(text, room - bytesOf(name) - 2);
      briefs.set(name, longer);
      left = room - cost(name, longer);
    }
  }
  return { content: sorted(content), summaries: sorted([...briefs]) };
}

/** Returns the first names of a list, as many as fit. */
export function namesWithin(names: readonly string[], budget: number): string[] {
  return names.slice(
    0,
    countWithin(names, budget, (name) => bytesOf(name) + 1),
  );
}

/** Returns the names that fit as `key`, and the number of the others as `more_<key>`. */
export function listed(key: string, names: readonly string[], budget: number): JsonObject {
  const fit = namesWithin(names, budget);
  const more = names.length - fit.length;
  return { [key]: fit, ...(more > 0 && { [`more_${key}`]: more }) };
}

function sorted(entries: readonly [string, string][]): { [name: string]: string } {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
