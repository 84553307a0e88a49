import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { noOthers, searchOthers } from '../../core/declarations/other-memories.ts';
import { reportLeftOut } from '../../core/memory/answer-fields.ts';
import type { SearchHit, SearchResult } from '../../core/memory/search-hit.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { shownTitle } from '../../core/values/shown-title.ts';
import {
  foundAnswer,
  hitData,
  isJudged,
  maxJudged,
  rangeOf,
  SectionAnchors,
} from '../copy/found-answer.ts';
import { type Found, searchShape } from '../page/answers.ts';
import { at, isHistoryPart, skip, toolset, type, typesOf } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';
import { titleOf } from './record-source.ts';

/** How long an answer waits for each index that is being made, in milliseconds; the page asks again. */
const maxWaitMs = 150;

export const search = defineMemoryOperation({
  method: 'get',
  path: '/memory/search',
  id: 'search_records',
  summary: 'Finds records by words, the best matches first, as `memory-bank search` does.',
  input: z.object({
    query: z.string().max(10_000),
    at,
    toolset,
    type,
    agent: z.string().max(200).optional().describe('Only last changed by this agent or person'),
    maker: z.enum(['agent', 'person']).optional().describe('Only last changed by one of them'),
    after: z.iso.date().optional().describe('Only last changed since this day'),
    exact: z.stringbool().default(false).describe('Finds the query as one literal text'),
    skip,
    limit: z.coerce.number().int().min(1).max(maxJudged).default(30),
  }),
  answer: searchShape,
  async run(context, { query, at, exact, skip, limit, ...filter }, { types }) {
    if (!(exact ? /\S/ : /[\p{L}\p{N}]/u).test(query)) return { hits: [], total: 0 };
    const wanted = typesOf(types, filter);
    const searched = at === undefined ? context.store : await context.history.at(at);
    const request = { query, types: wanted, fuzzy: !exact, explain: true, maxWaitMs };
    const page = { skip, limit };
    const result = await searched.search({ ...request, ...rangeOf(filter, page) });
    const isFirst = at === undefined && skip === 0 && !isJudged(filter);
    const others = isFirst ? await searchOthers(context, { ...request, limit }) : noOthers;
    const { foreign, plans, personal } = others;
    const { unread } = result;
    const { note } = unread === undefined ? reportLeftOut(result) : {};
    const anchors = new SectionAnchors();
    const found = foundAnswer(result, filter, page, (hit) => ({
      ...dataOf(hit),
      ...anchors.of(hit, () => hit.type.search(hit.value).body ?? ''),
    }));
    return {
      ...found,
      ...(foreign.length > 0 && { foreign: foreign.map(dataOf) }),
      ...(plans.length > 0 && { plans: plans.map((hit) => dataOf({ ...hit, path: hit.file })) }),
      ...(personal.length > 0 && { personal: personal.map(dataOf) }),
      ...(typeof note === 'string' && { note }),
      ...(unread !== undefined && { unread }),
      ...((await isPart(context, result, at)) && { isPart: true }),
      ...(found.hits.length === 0 && { searched: await countOf(context, wanted, at) }),
    };
  },
});

/** Whether the answer will have more hits, or more about them, once an index is complete. */
async function isPart(
  context: Context,
  { hits, unread }: SearchResult,
  at: string | undefined,
): Promise<boolean> {
  if (unread !== undefined) return true;
  return hits.some(({ changed }) => !changed) && isHistoryPart(context, at);
}

async function countOf(
  { store, history }: Context,
  types: readonly AnyRecordType[],
  at: string | undefined,
): Promise<number> {
  if (at !== undefined) {
    const { records } = await (await history.at(at)).list(undefined, Number.POSITIVE_INFINITY);
    return records.filter(({ type }) => types.includes(type)).length;
  }
  let count = 0;
  for (const type of types) count += (await store.keys(type)).keys.length;
  return count;
}

function dataOf(hit: SearchHit): Found['hits'][number] {
  const { type, value, path, entry } = hit;
  const title = entry === undefined ? titleOf(type, value, path) : shownTitle(entry);
  return hitData(hit, { type: type.name, toolset: type.toolset, title });
}
