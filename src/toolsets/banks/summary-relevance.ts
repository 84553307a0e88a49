import type { Trigger } from './custom-instructions.ts';

/** The relevance of a new document. */
export const firstScore = 0.5;

/** The relevance that an update suggests for its document, by the reason for the update. */
const weights: { readonly [trigger in Trigger]: number } = {
  user_request: 1,
  architecture: 0.9,
  technology: 0.9,
  progress: 0.7,
  commit: 0.7,
  watchdog: 0.5,
};

/**
 * Computes the relevance of a document after another update: 0 to 1, with two decimals.
 *
 * It moves a quarter of the way to the weight of the update's trigger: that of a document with decisions
 * rises, and that of routine notes returns to the middle. A person may set it in the file.
 */
export function relevance(score: number | undefined, trigger: Trigger = 'watchdog'): number {
  const before = score ?? firstScore;
  return Math.round((before + (weights[trigger] - before) / 4) * 100) / 100;
}
