import { titleOf } from '../../core/markdown/sections.ts';
import type { FileHit } from '../../core/memory/search-hit.ts';
import type { RecordText } from '../../core/memory/store.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import { inSlices } from '../records/slices.ts';
import { SearchIndex, type SearchOptions } from './index.ts';

/** An index of some files of the project. */
export class FileIndex {
  readonly #index = new SearchIndex();
  readonly #texts: ReadonlyMap<string, string>;

  constructor(files: readonly RecordText[]) {
    this.#texts = new Map(files.map(({ file, text }) => [file, text]));
    for (const [file, text] of this.#texts)
      this.#index.upsert({ id: file, fields: fieldsOf(file, text) });
  }

  /** Whether these are the files of the index, with the same texts. */
  has(files: readonly RecordText[]): boolean {
    return (
      files.length === this.#texts.size &&
      files.every(({ file, text }) => this.#texts.get(file) === text)
    );
  }

  /** Finds the files that have words of a query. */
  async find(
    files: readonly RecordText[],
    query: string,
    options: SearchOptions,
  ): Promise<readonly FileHit[]> {
    const { hits } = await inSlices(this.#index.searching(query, options));
    const byFile = new Map(files.map((one) => [one.file, one]));
    return hits.flatMap(({ id, later: _, ...hit }) => {
      const found = byFile.get(id);
      if (!found || hit.matches.length === 0) return [];
      const { type, record, file, text } = found;
      return [{ ...record, type, file, fields: fieldsOf(file, text), ...hit }];
    });
  }
}

function fieldsOf(file: string, text: string): SearchFields {
  return { title: titleOf(text) ?? file, body: text, markdown: true };
}
