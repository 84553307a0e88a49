import type { SimilarWords } from '../../../core/memory/search-hit.ts';
import type { IndexedDocument } from '../terms/searched-collection.ts';
import type { AskedMeaning } from './asked-meaning.ts';
import { tableDimensions } from './packed-vector.ts';
import { toUnit } from './unit-vector.ts';
import type { WordTable } from './word-table.ts';

/** Number of words of a record that are named for one word of the query, and of those that are compared. */
const mostFound = 3;
const mostCompared = 2000;
/** Words that are less alike are not named. */
const leastAlike = 0.4;

/** Finds the words of a record that are of a kind that a query asks for, or are used most like its words. */
export function similarWords(
  asked: AskedMeaning,
  { words }: IndexedDocument,
  table: WordTable,
): SimilarWords[] {
  const own = new Map<string, { readonly word: string; readonly vector: Float64Array }>();
  for (const { text, term, stop } of words.flat()) {
    if (own.size === mostCompared) break;
    if (stop || own.has(term.text)) continue;
    const vector = vectorOf(table, table.placeOf(term.text));
    if (vector) own.set(term.text, { word: text, vector });
  }
  const named = new Map<string, string[]>();
  for (const { asked: kind, things } of asked.kinds) {
    const found = words.flat().filter(({ term }) => things.has(term.text));
    named.set(kind, [...new Set(found.map(({ text }) => text))]);
  }
  for (const { word, term, place } of asked.words) {
    const vector = own.has(term) ? undefined : vectorOf(table, place);
    if (!vector) continue;
    const found = [...own.values()]
      .map((other) => ({ word: other.word, alike: product(vector, other.vector) }))
      .filter(({ alike }) => alike >= leastAlike)
      .sort((a, b) => b.alike - a.alike || (a.word < b.word ? -1 : 1));
    named.set(word, [...new Set([...(named.get(word) ?? []), ...found.map(({ word }) => word)])]);
  }
  return [...named]
    .filter(([, found]) => found.length > 0)
    .map(([word, found]) => ({ asked: word, found: found.slice(0, mostFound) }));
}

function vectorOf(table: WordTable, place: number): Float64Array | undefined {
  if (place < 0) return undefined;
  const vector = new Float64Array(tableDimensions);
  table.addTo(vector, place, 1);
  return toUnit(vector) ? vector : undefined;
}

function product(one: Float64Array, other: Float64Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}
