import type { SearchFields } from '../../core/record/record-type.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { SearchIndex } from '../../store/search/index.ts';
import { shippedTable } from '../../store/search/meaning/shipped-table.ts';
import type { CopiedWords } from './copied-search.ts';

/** Number of words with a vector in a copy, and of those of the memory among them. */
const words = 7000;
const ownWords = 4000;

/** Returns the vectors by which a copy finds records in other words than theirs; undefined without a table. */
export function copiedWords(texts: ReadonlyMap<string, SearchFields>): CopiedWords | undefined {
  const table = shippedTable(new NodeFiles());
  if (!table) return undefined;
  const index = new SearchIndex();
  for (const [id, fields] of texts) index.upsert({ id, fields });
  const excerpt = table.excerpt((term) => index.hasTerm(term), ownWords, words);
  const records = [...texts.keys()].map((path) => {
    return [path, inLetters(index.vectorsOf(path, table) ?? new Uint8Array())];
  });
  return {
    ...excerpt,
    vectors: inLetters(excerpt.vectors),
    records: Object.fromEntries(records),
  };
}

function inLetters(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
