import { fieldNames, type Hits, named, type SearchDocument } from './document.ts';
import { around } from './snippet.ts';

/** The documents that hold the query as it is, case aside: in a heavier field first, then by id. */
export function literal(documents: readonly SearchDocument[], query: string, limit: number): Hits {
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
  const found: { id: string; rank: number; text: string; match: RegExpExecArray }[] = [];
  for (const document of documents) {
    for (const [index, field] of fieldNames.entries()) {
      const text = document.fields[field] ?? '';
      const match = pattern.exec(text);
      if (match === null) continue;
      found.push({ id: document.id, rank: named(document, query) ? -1 : index, text, match });
      break;
    }
  }
  found.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  const hits = found.slice(0, limit).map(({ id, text, match }) => ({
    id,
    score: 1,
    matches: [match[0]],
    snippet: around(text, match.index, match.index + match[0].length),
  }));
  return { hits, total: found.length };
}
