import type { NamedSection } from '../../core/markdown/section-path.ts';
import type { SearchFields } from '../../core/record-type.ts';
import { bytesOf, jsonBytes } from '../records/section-file.ts';
import type { Steps } from '../records/slices.ts';
import type { SearchIndex } from './index.ts';
import { packTexts } from './packed-texts.ts';
import { pageBytes } from './paged-bytes.ts';
import type { RowState } from './search-writer.ts';
import type { StoredText } from './stored-index.ts';
import { outlineOf } from './text-outline.ts';

/**
 * Encodes an index with the texts of its documents in steps, as `StoredIndex` reads it.
 *
 * @param paths sorted.
 * @param noteOf returns what else is stored with a document.
 */
export function* encodeSearch(
  index: SearchIndex,
  paths: readonly string[],
  stateOf: (path: string) => RowState,
  noteOf: (path: string) => unknown = () => null,
): Steps<Uint8Array[]> {
  const texts: Uint8Array[] = [];
  const textsAt = new Uint32Array(paths.length + 1);
  let length = 0;
  for (const [row, path] of paths.entries()) {
    const text = jsonBytes(storedText(index.fieldsOf(path) ?? { title: '' }, noteOf(path)));
    texts.push(text);
    length += text.length;
    textsAt[row + 1] = length;
    yield;
  }
  const encoded = yield* index.saving(paths, stateOf);
  return [...packTexts(paths), bytesOf(textsAt), ...pageBytes(Buffer.concat(texts)), ...encoded];
}

/** A document with the outline of its text: to parse markdown takes longer than the search. */
function storedText(fields: SearchFields, note: unknown): StoredText {
  if (!fields.markdown) return [fields, null, note];
  const { start, sections } = outlineOf(fields);
  const numberOf = new Map<NamedSection | undefined, number>(sections.map((one, at) => [one, at]));
  const stored = sections.map(({ parent, ...section }) => {
    return [section, numberOf.get(parent) ?? -1] as const;
  });
  return [fields, { start, sections: stored }, note];
}
