import type { Entry } from './collection.ts';
import { fieldNames, type Hits, plain } from './document.ts';
import { around } from './snippet.ts';

/**
 * The documents that hold the query as it is, case aside: in a heavier field first, then by id.
 *
 * @param score of each of them but those whose title is the query: they have 1 in any case.
 */
export function literal(
  entries: readonly Entry[],
  query: string,
  limit: number,
  score: number,
): Hits {
  const wanted = lower(query);
  const name = plain(query);
  const found: { entry: Entry; rank: number; text: string; at: number }[] = [];
  for (const entry of entries) {
    for (const [order, field] of fieldNames.entries()) {
      const text = entry.fields[field] ?? '';
      const at = lower(text).indexOf(wanted);
      if (at < 0) continue;
      found.push({ entry, rank: entry.name === name ? -1 : order, text, at });
      break;
    }
  }
  found.sort((a, b) => a.rank - b.rank || (a.entry.id < b.entry.id ? -1 : 1));
  const hits = found.slice(0, limit).map(({ entry, rank, text, at }) => ({
    id: entry.id,
    score: rank < 0 ? 1 : score,
    matches: [text.slice(at, at + query.length)],
    snippet: around(text, at, at + query.length),
  }));
  return { hits, total: found.length };
}

/** A text in lower case, every letter where it was: İ is the one letter that would become two. */
function lower(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}
