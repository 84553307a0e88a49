import type { Trigger } from './custom-instructions.ts';

/** The relevance of a document that nothing is known of yet. */
export const firstScore = 0.5;

/** How much an update says about the worth of its document, by what called for it. */
const weights: { readonly [trigger in Trigger]: number } = {
  user_request: 1,
  architecture: 0.9,
  technology: 0.9,
  progress: 0.7,
  commit: 0.7,
  watchdog: 0.5,
};

/**
 * The relevance of a document after one more update: 0 to 1, two decimals.
 *
 * It moves a quarter of the way to what the update's trigger is worth, so that a document of decisions
 * rises and one of routine notes falls back to the middle. A person may set it in the file.
 */
export function relevance(score: number | undefined, trigger: Trigger = 'watchdog'): number {
  const before = score ?? firstScore;
  return Math.round((before + (weights[trigger] - before) / 4) * 100) / 100;
}
