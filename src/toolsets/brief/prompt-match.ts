import type { SearchHit } from '../../core/store.ts';

/** Characters of a prompt that are searched for; the task is usually at its beginning. */
const maxPrompt = 1500;
/** Least score of a record that is about a prompt. */
const leastScore = 0.3;

/** Returns the query for a prompt; empty if it has no words. */
export function promptQuery(prompt: string): string {
  const query = prompt
    .slice(0, maxPrompt)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return /[\p{L}\p{N}]{3}/u.test(query) ? query : '';
}

/**
 * Whether a record is about a prompt and does not only share a common word with it.
 *
 * The record has two words of the prompt, or its title is the prompt.
 */
export function isAbout({ score, matches }: SearchHit, query: string): boolean {
  if (score >= 1) return true;
  const asked = query.toLowerCase();
  const shared = new Set(
    matches
      .map((match) => match.toLowerCase())
      .filter((match) => match.length >= 3 && asked.includes(match.slice(0, 4))),
  );
  return score >= leastScore && shared.size >= 2;
}
