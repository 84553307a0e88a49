import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { plainFailure, plainSuccess, type Toolset } from '../../core/declarations/toolset.ts';
import { reportSearch } from '../../core/memory/hit-form.ts';
import { maxForeign, reportForeign } from '../../core/memory/pinned-memories.ts';

/** One search over the records of all the given toolsets. */
export function searchOver(toolsets: readonly Toolset[]): Toolset {
  const searched = toolsets.filter(({ records }) => records.length > 0);
  const searchMemory = defineTool({
    name: 'search_memory',
    title: 'Search all memory',
    description:
      'Finds anything in the project’s memory by words: features, tasks, documents, files, knowledge. Use it first when you do not know where something is kept.',
    effect: 'read',
    input: z.object({
      query: z.string().regex(/\S/, 'must not be blank').max(10_000),
      toolset: z.enum(searched.map(({ name }) => name)).optional(),
      type: z.string().min(1).max(100).optional().describe('As in results: design_doc, file, …'),
      category: z.string().min(1).max(100).optional(),
      path: z.string().min(1).max(1000).optional().describe('Glob below .memory-bank/'),
      fuzzy: z.boolean().default(true).describe('false: literal text'),
      limit: z.int().min(1).max(1000).default(20),
      offset: offsetArgument,
      explain: z.boolean().default(false).describe('Why each was found'),
    }),
    async handle(context, args) {
      const { query, toolset, type, category, path, fuzzy, limit, offset, explain } = args;
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
      const found = await context.store.search(request);
      // The first page has those of other memories.
      if (offset > 0) return reportSearch(found, offset);
      const others = { ...request, limit: Math.min(limit, maxForeign) };
      const foreign = await context.memories.search(others);
      return { ...reportSearch(found, offset), ...reportForeign(foreign) };
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
