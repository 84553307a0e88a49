import { byteSum } from '../../core/checksum.ts';
import type { SearchFields } from '../../core/record-type.ts';
import { bytesOf, jsonBytes, type SectionFile } from '../records/section-file.ts';
import type { Steps } from '../records/slices.ts';
import { SearchIndex } from './index.ts';
import { SavedSearch } from './saved-search.ts';
import type { RowState } from './search-writer.ts';
import { placeIn } from './stored-words.ts';

/** The sections by position; those of the index follow. */
const sections = { paths: 0, textsAt: 1, sums: 2, texts: 3, index: 4 } as const;

/**
 * Encodes an index with the texts of its documents in steps.
 *
 * @param paths sorted.
 */
export function* encodeSearch(
  index: SearchIndex,
  paths: readonly string[],
  stateOf: (path: string) => RowState,
): Steps<Uint8Array[]> {
  const texts: Uint8Array[] = [];
  const textsAt = new Uint32Array(paths.length + 1);
  const sums = new Uint32Array(paths.length);
  let length = 0;
  for (const [row, path] of paths.entries()) {
    const text = jsonBytes(index.fieldsOf(path) ?? { title: '' });
    texts.push(text);
    length += text.length;
    textsAt[row + 1] = length;
    sums[row] = byteSum(text);
    yield;
  }
  const encoded = yield* index.saving(paths, stateOf);
  return [jsonBytes(paths), bytesOf(textsAt), bytesOf(sums), Buffer.concat(texts), ...encoded];
}

/**
 * Reads an index that `encodeSearch` has made; undefined if it is missing or damaged.
 *
 * @param first the position of its first section.
 */
export function readEncodedSearch(file: SectionFile, first: number): SearchIndex | undefined {
  const paths = file.json(first + sections.paths) as readonly string[] | undefined;
  const textsAt = paths && file.integers(first + sections.textsAt, paths.length + 1);
  const sums = paths && file.integers(first + sections.sums, paths.length);
  const saved = paths && SavedSearch.read(file, first + sections.index, paths.length);
  if (!paths || !textsAt || !sums || !saved) return undefined;
  const index = new SearchIndex();
  index.adopt(saved, paths, (path): SearchFields => {
    const row = placeIn(paths, path);
    // Each text has a checksum of its own, because few of them are read.
    const bytes = file.part(first + sections.texts, textsAt[row] ?? 0, textsAt[row + 1] ?? 0);
    if (!bytes || byteSum(bytes) !== sums[row]) throw new Error('The index is damaged.');
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  });
  return index;
}
