import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import type { Context } from '../../core/declarations/context.ts';
import { reportOthers, searchOthers } from '../../core/declarations/other-memories.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { plainFailure, plainSuccess, type Toolset } from '../../core/declarations/toolset.ts';
import { reportSearch } from '../../core/memory/hit-form.ts';
import type { SearchRequest } from '../../core/memory/search-hit.ts';
import type { JsonObject } from '../../core/values/json.ts';

/** Searches the memory of a commit, branch or date. */
type PastSearch = (
  context: Context,
  revision: string,
  request: SearchRequest & { readonly offset: number },
) => Promise<JsonObject>;

/** One search over the records of all the given toolsets. */
export function searchOver(toolsets: readonly Toolset[], searchPast: PastSearch): Toolset {
  const searched = toolsets.filter(({ records }) => records.length > 0);
  const searchMemory = defineTool({
    name: 'search_memory',
    title: 'Search memory',
    description:
      'What do we know, what did we decide or believe about something: searches and finds everything, wherever it is kept. Use it first. as_of: as it was on a date or in a release.',
    effect: 'read',
    input: z.object({
      query: z.string().regex(/\S/, 'must not be blank').max(10_000),
      toolset: z.enum(searched.map(({ name }) => name)).optional(),
      type: z.string().min(1).max(100).optional().describe('As in results: design_doc, file, …'),
      category: z.string().min(1).max(100).optional(),
      path: z.string().min(1).max(1000).optional().describe('Glob below .memory-bank/'),
      as_of: z.string().min(1).max(256).optional().describe('Past commit, branch or date'),
      fuzzy: z.boolean().default(true).describe('false: literal text'),
      limit: z.int().min(1).max(1000).default(20),
      offset: offsetArgument,
      explain: z.boolean().default(false),
    }),
    async handle(context, args) {
      const { query, toolset, type, category, path, as_of, fuzzy, limit, offset, explain } = args;
      const request = {
        query,
        fuzzy,
        limit,
        offset,
        explain,
        types: searched
          .filter(({ name }) => toolset === undefined || name === toolset)
          .flatMap(({ records }) => records),
        ...(type !== undefined && { type }),
        ...(category !== undefined && { categories: [category] }),
        ...(path !== undefined && { path }),
      };
      if (as_of !== undefined) return searchPast(context, as_of, request);
      const found = await context.store.search(request);
      // The first page has those of other memories.
      if (offset > 0) return reportSearch(found, offset);
      const others = await searchOthers(context, request);
      return { ...reportSearch(found, offset), ...reportOthers(others) };
    },
  });
  return {
    name: 'search',
    title: 'One search over everything that is remembered',
    tools: [searchMemory],
    records: [],
    success: plainSuccess,
    failure: plainFailure,
  };
}
