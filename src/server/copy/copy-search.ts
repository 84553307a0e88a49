import { type CopiedMeaning, CopiedSearch } from '../../app/exchange/copied-search.ts';
import type { Found } from '../page/answers.ts';
import type { CopyBase, CopyRecords } from './copy-parts.ts';
import { foundAnswer, hitData, rangeOf, SectionAnchors } from './found-answer.ts';
import { type RecordInCopy, unpackRecord } from './record-in-copy.ts';

type Searchable = Required<Pick<RecordInCopy, 'record' | 'searched'>>;

/** Answers searches of a copy as the operation of the server does, from the records of the copy alone. */
export class CopySearch {
  readonly #records: ReadonlyMap<string, Searchable>;
  readonly #search: CopiedSearch;

  private constructor(records: ReadonlyMap<string, Searchable>, search: CopiedSearch) {
    this.#records = records;
    this.#search = search;
  }

  /** Makes the index of all records that can be read. */
  static async of(
    parts: readonly CopyRecords[],
    { synonyms }: Pick<CopyBase, 'synonyms'>,
    meaning: CopiedMeaning,
  ): Promise<CopySearch> {
    const records = new Map<string, Searchable>();
    for (const [path, packed] of parts.flatMap((part) => Object.entries(part))) {
      const { record, searched } = unpackRecord(packed);
      if (record && searched) records.set(path, { record, searched });
    }
    const texts = new Map([...records].map(([path, { searched }]) => [path, searched]));
    return new CopySearch(records, await CopiedSearch.of(texts, { synonyms, meaning }));
  }

  /** @param query the arguments of the operation. */
  async find(query: URLSearchParams): Promise<Found> {
    const text = query.get('query') ?? '';
    const fuzzy = query.get('exact') !== 'true';
    if (!(fuzzy ? /[\p{L}\p{N}]/u : /\S/).test(text)) return { hits: [], total: 0 };
    const [toolset, type] = [query.get('toolset'), query.get('type')];
    const accepts = (path: string) => {
      const record = this.#records.get(path)?.record;
      if (!record) return false;
      return (
        record.toolset === (toolset ?? record.toolset) && record.type === (type ?? record.type)
      );
    };
    const filter = Object.fromEntries(
      ['agent', 'maker', 'after'].map((name) => [name, query.get(name) ?? undefined]),
    );
    const page = { skip: Number(query.get('skip') ?? 0), limit: Number(query.get('limit') ?? 30) };
    const range = rangeOf(filter, page);
    const result = await this.#search.find({ query: text, fuzzy, accepts, ...range });
    const anchors = new SectionAnchors();
    const answer = foundAnswer(result, filter, page, (hit) => {
      const { record, searched } = this.#records.get(hit.path) ?? {};
      const { type = '', toolset = '', title = hit.path } = record ?? {};
      return {
        ...hitData(hit, { type, toolset, title: hit.entry ?? title }),
        ...anchors.of(hit, () => searched?.fields.body ?? ''),
      };
    });
    const count = [...this.#records.keys()].filter(accepts).length;
    return { ...answer, ...(answer.hits.length === 0 && { searched: count }) };
  }
}
