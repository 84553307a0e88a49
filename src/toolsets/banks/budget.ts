import type { JsonObject } from '../../core/json.ts';
import { bytesOf, summarize } from './summary.ts';

/**
 * How many bytes the documents of one answer may take, names and summaries included: 6,000 tokens.
 *
 * Measured as the bytes of their JSON.
 */
export const contentBudget = 24_000;

/** How many bytes a summary takes at most, while there is room for that. */
export const summaryLimit = 1_200;

/** A text that an answer may hold. */
export interface Part {
  readonly name: string;
  readonly text: string;
  /** A summary made earlier, of the whole text. */
  readonly summary?: string | undefined;
}

/** Whole texts, and the summaries of those that found no room. */
export interface Fitted {
  readonly content: { [name: string]: string };
  readonly summaries: { [name: string]: string };
}

/**
 * The documents within the budget.
 *
 * When not all fit, half of the room is kept for summaries; the rest goes to whole texts.
 *
 * @param parts the most telling first: they are given whole as long as there is room.
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
      // The document that changed last is too large by itself: as much of it as there is room for.
      const longer = summarize(text, room - bytesOf(name) - 2);
      briefs.set(name, longer);
      left = room - cost(name, longer);
    }
  }
  return { content: sorted(content), summaries: sorted([...briefs]) };
}

/** The first of a list of names, as many as fit. */
export function namesWithin(names: readonly string[], budget: number): string[] {
  let left = budget;
  const end = names.findIndex((name) => {
    left -= bytesOf(name) + 1;
    return left < 0;
  });
  return end < 0 ? [...names] : names.slice(0, end);
}

/** A list of names as far as it fits, under a key, and under `more_<key>` how many are left out. */
export function listed(key: string, names: readonly string[], budget: number): JsonObject {
  const fit = namesWithin(names, budget);
  const more = names.length - fit.length;
  return { [key]: fit, ...(more > 0 && { [`more_${key}`]: more }) };
}

function sorted(entries: readonly [string, string][]): { [name: string]: string } {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
