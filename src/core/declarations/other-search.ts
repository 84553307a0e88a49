import type { Context } from './context.ts';

/** The tool that searches all records. */
const everywhere = 'search_memory';

/**
 * Adds a note to the answer of a search in some records that found nothing, or nothing with half of the
 * words: the answer may be in the others.
 *
 * @param found the matched words of each hit, the best hit first.
 */
export async function noteOtherSearch(
  context: Context,
  query: string,
  found: readonly (readonly string[])[],
): Promise<void> {
  const [best] = found;
  if (best && 2 * wordsIn(best.join(' ')).size >= wordsIn(query).size) return;
  if (!(await context.toolNames()).has(everywhere)) return;
  const few = best ? 'Few of the words are' : 'Nothing was found';
  context.note(`${few} in these records; ${everywhere} looks everywhere.`);
}

/** The words of a text that say something: those of three characters and more. */
function wordsIn(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]{3,}/gu) ?? []);
}
