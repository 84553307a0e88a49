import type { Found } from './answers.ts';
import type { CopyTexts } from './copy-parts.ts';

/** Number of letters around the first word in a passage. */
const around = 110;

/** Finds the records of a copy that have all or most of the words, or words that begin with them. */
export function findInCopy(texts: CopyTexts, query: URLSearchParams): Found {
  const words = wordsOf(query.get('query') ?? '').map((word) => ({
    word,
    begins: new RegExp(`(?<![\\p{L}\\p{N}])${word}[\\p{L}\\p{N}]*`, 'giu'),
  }));
  const [toolset, type] = [query.get('toolset'), query.get('type')];
  const hits = texts.flatMap(({ text, ...record }) => {
    if (record.toolset !== (toolset ?? record.toolset)) return [];
    if (record.type !== (type ?? record.type)) return [];
    const title = record.title.toLowerCase();
    const matches = new Set<string>();
    let score = 0;
    for (const { word, begins } of words) {
      const found = text.match(begins) ?? [];
      for (const match of found) matches.add(match.toLowerCase());
      if (found.length > 0) score += 0.8 + (title.includes(word) ? 0.2 : 0);
    }
    if (matches.size === 0) return [];
    const snippet = passage(text, [...matches]);
    return [{ ...record, snippet, matches: [...matches], score: score / words.length }];
  });
  hits.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
  return { hits: hits.slice(0, 30), total: hits.length };
}

/** Returns words of letters and digits only, which a pattern can contain. */
function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))];
}

function passage(text: string, matches: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = matches.map((match) => lower.indexOf(match)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places) - around / 2);
  const end = Math.min(text.length, start + 2 * around);
  const cut = text.slice(start, end).trim();
  return `${start > 0 ? '…' : ''}${cut}${end < text.length ? '…' : ''}`;
}
