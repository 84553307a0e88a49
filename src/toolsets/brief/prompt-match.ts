import { hitLine, type ShownHit } from '../../core/memory/hit-form.ts';
import { type BriefLine, oneLine, quote } from './layout.ts';

/** Characters of a prompt that are searched for; the task is usually at its beginning. */
const maxPrompt = 1500;
/** Least score of a record that is about a prompt. */
export const leastScore = 0.3;
/** Number of hits of which those about the prompt are shown. */
export const maxHits = 30;
/** Number of them that are compared closely with the prompt: twice as many as a hook shows. */
export const maxCompared = 12;
/** Number of records that a hook shows for one prompt: it runs before each of them. */
export const maxAtPrompt = 6;

/** Printable ASCII, as most prompts are; the classes of Unicode take long to compile. */
const plain = /^[ -~]*$/;

/** A record that the search has found for a prompt. */
export interface PromptHit extends ShownHit {
  readonly path: string;
  readonly title: string;
  readonly score: number;
  readonly matches: readonly string[];
}

/** Returns the query for a prompt; empty if it has no words. */
export function promptQuery(prompt: string): string {
  const text = prompt.slice(0, maxPrompt);
  if (plain.test(text)) return /[a-z\d]{3}/i.test(text) ? text.replace(/ +/g, ' ').trim() : '';
  const query = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return /[\p{L}\p{N}]{3}/u.test(query) ? query : '';
}

/**
 * Whether a record is about a prompt and does not only share a common word with it.
 *
 * The record has two words of the prompt, or its title is the prompt.
 */
function isAbout({ score, matches }: PromptHit, query: string): boolean {
  if (score >= 1) return true;
  const asked = query.toLowerCase();
  const shared = new Set(
    matches
      .map((match) => match.toLowerCase())
      .filter((match) => match.length >= 3 && asked.includes(match.slice(0, 4))),
  );
  return score >= leastScore && shared.size >= 2;
}

/** Orders hits by score, the best first, and then by path. */
export function bestFirst(a: PromptHit, b: PromptHit): number {
  return b.score - a.score || (a.path < b.path ? -1 : Number(a.path > b.path));
}

/**
 * The lines of the records that are about a prompt.
 *
 * @param hits in the order of `bestFirst`; no more are taken than lines are needed.
 */
export function* promptLines(hits: Iterable<PromptHit>, query: string): Generator<BriefLine> {
  for (const hit of hits) {
    if (!isAbout(hit, query)) continue;
    const { path, title } = hit;
    yield { path, text: `${oneLine(path)}: ${quote(hitLine(title, hit))}` };
  }
}
