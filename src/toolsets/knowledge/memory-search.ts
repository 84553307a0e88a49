import * as z from 'zod';
import { noteOtherSearch } from '../../core/declarations/other-search.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { cautionField, reportDamaged, reportLeftOut } from '../../core/memory/answer-fields.ts';
import { categories, category, entryRecord } from './entry.ts';

export const memorySearch = defineTool({
  name: 'memory_search',
  title: 'Search knowledge',
  description:
    'Look through the keys and values of memory_write, also for words that are spelled differently. search_memory looks everywhere.',
  effect: 'read',
  input: z.object({
    query: z.string().regex(/\S/, 'must not be blank').max(10_000),
    categories: z.array(category).max(categories.length).optional(),
    fuzzy: z.boolean().default(true).describe('false: literal text'),
    limit: z.int().min(1).max(1000).default(20),
  }),
  growing: { results: 'search with more words, or in one category' },
  async handle(context, { categories: wanted = [], ...request }) {
    const found = await context.store.search({
      ...request,
      types: [entryRecord],
      ...(wanted.length > 0 && { categories: wanted }),
    });
    const { hits, total, damaged } = found;
    const { query } = request;
    await noteOtherSearch(
      context,
      query,
      hits.map(({ matches }) => matches),
    );
    const results = hits.map(({ value: entry, score, matches, section, caution }) => {
      const { category, key, value } = entryRecord.schema.parse(entry);
      return {
        category,
        key,
        value,
        score,
        matches: [...matches],
        ...(section !== undefined && { section }),
        ...cautionField(caution),
      };
    });
    const more = { ...(total > results.length && { total }), ...reportDamaged(damaged) };
    return { results, ...more, ...reportLeftOut(found) };
  },
});
