import type { LearnedWords } from '../../core/memory/store.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { bytesOf } from '../../store/derived/section-file.ts';
import { SearchIndex } from '../../store/search/index.ts';
import { shippedTable } from '../../store/search/meaning/shipped-table.ts';
import { dimensions } from '../../store/search/meaning/word-vectors.ts';
import type { CopiedMeaning, CopiedWords } from './copied-search.ts';

/** Limit of the words of the memory that have a vector in a copy, and how many other words have one. */
const limits = { most: 12_000, others: 3000, least: 7000 };

/**
 * Returns the vectors by which a copy finds records in other words than theirs, and ranks them.
 *
 * @param texts the records as the copy has them: a word that only others have is not copied.
 * @param learned the vectors that the search of the memory has learned.
 */
export function copiedMeaning(
  texts: ReadonlyMap<string, SearchFields>,
  learned: LearnedWords | undefined,
): CopiedMeaning {
  const index = new SearchIndex();
  for (const [id, fields] of texts) index.upsert({ id, fields });
  const table = shippedTable(new NodeFiles());
  const excerpt = table?.excerpt((term) => index.hasTerm(term), limits);
  const records = [...texts.keys()].map((path): [string, Uint8Array] => {
    return [path, (table && index.vectorsOf(path, table)) ?? new Uint8Array()];
  });
  const places = [...(learned?.terms.entries() ?? [])].flatMap(([place, term]) =>
    index.hasTerm(term) ? [place] : [],
  );
  const words: CopiedWords = {
    table: excerpt ? { words: excerpt.words, usual: excerpt.usual } : null,
    records: Object.fromEntries(records.map(([path, { length }]) => [path, length])),
    learned: places.map((place) => learned?.terms[place] ?? ''),
  };
  const rarities = Float32Array.from(places, (place) => learned?.rarities[place] ?? 0);
  const vectors = places.map((place) => {
    return learned?.vectors.subarray(place * dimensions, (place + 1) * dimensions);
  });
  const bytes = [
    excerpt?.vectors,
    ...records.map(([, one]) => one),
    bytesOf(rarities),
    ...vectors.map((vector) => vector && bytesOf(vector)),
  ];
  return { words, vectors: new Uint8Array(Buffer.concat(bytes.flatMap((one) => one ?? []))) };
}
