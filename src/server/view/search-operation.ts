import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { noOthers, searchOthers } from '../../core/declarations/other-memories.ts';
import { SectionNames } from '../../core/markdown/section-names.ts';
import { reportLeftOut } from '../../core/memory/answer-fields.ts';
import { besides, type ShownHit, standing } from '../../core/memory/hit-form.ts';
import type { SearchExplanation, SearchHit, SearchResult } from '../../core/memory/search-hit.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { type Found, searchShape } from '../page/answers.ts';
import { at, isHistoryPart, skip, toolset, type, typesOf } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';
import { titleOf } from './record-source.ts';

/** How long an answer waits for each index that is being made, in milliseconds; the page asks again. */
const maxWaitMs = 150;
/** Number of the best hits among which those of an author or a time are looked for. */
const maxJudged = 200;

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
    const { agent, maker, after } = filter;
    const isJudged = [agent, maker, after].some((one) => one !== undefined);
    const request = { query, types: wanted, fuzzy: !exact, explain: true, maxWaitMs };
    const page = isJudged ? { limit: maxJudged, offset: 0 } : { limit, offset: skip };
    const result = await searched.search({ ...request, ...page });
    const isFirst = at === undefined && skip === 0 && !isJudged;
    const others = isFirst ? await searchOthers(context, { ...request, limit }) : noOthers;
    const { foreign, plans, personal } = others;
    const kept = isJudged ? result.hits.filter((hit) => isBy(hit, filter)) : result.hits;
    const { unread, total } = result;
    const { note } = unread === undefined ? reportLeftOut(result) : {};
    const anchors = new SectionAnchors();
    const hits = (isJudged ? kept.slice(skip, skip + limit) : kept).map((hit) => ({
      ...hitData(hit),
      ...anchors.of(hit),
    }));
    return {
      hits,
      total: isJudged ? kept.length : total,
      makers: [...new Set(result.hits.flatMap(({ changed }) => changed?.by || []))].sort(),
      ...(isJudged && total > result.hits.length && { judged: result.hits.length }),
      ...(foreign.length > 0 && { foreign: foreign.map(hitData) }),
      ...(plans.length > 0 && { plans: plans.map((hit) => hitData({ ...hit, path: hit.file })) }),
      ...(personal.length > 0 && { personal: personal.map(hitData) }),
      ...(typeof note === 'string' && { note }),
      ...(unread !== undefined && { unread }),
      ...((await isPart(context, result, at)) && { isPart: true }),
      ...(hits.length === 0 && { searched: await countOf(context, wanted, at) }),
    };
  },
});

/** Whether the last change of a hit is of an author and a time. */
function isBy(
  { changed }: SearchHit,
  { agent, maker, after }: { readonly [name in 'agent' | 'maker' | 'after']?: string | undefined },
): boolean {
  if (agent !== undefined && changed?.by !== agent) return false;
  if (maker !== undefined && (changed?.maker === 'agent') !== (maker === 'agent')) return false;
  // A change that is not committed is of now.
  return after === undefined || (changed !== undefined && (changed.at ?? after) >= after);
}

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

/** Finds the anchors of the sections of hits; each record is read once. */
class SectionAnchors {
  readonly #names = new Map<string, SectionNames>();

  of({ type, path, value, section }: SearchHit): { readonly anchor?: string } {
    if (section === undefined || !path.endsWith('.md')) return {};
    const names = this.#names.get(path) ?? new SectionNames(type.search(value).body ?? '');
    this.#names.set(path, names);
    const found = names.find(section);
    const [anchor] = [...names.anchors].find(([, one]) => one === found) ?? [];
    return anchor === undefined ? {} : { anchor };
  }
}

function hitData(hit: SearchHit): Found['hits'][number] {
  const { type, path, value, score, snippet, matches, section, also, later, caution } = hit;
  return {
    ...textBeside(hit),
    path,
    type: type.name,
    toolset: type.toolset,
    title: hit.entry ?? titleOf(type, value, path),
    snippet,
    matches: [...matches],
    score,
    ...(section !== undefined && { section }),
    ...(also && { also: [...also] }),
    ...(later !== undefined && { later }),
    ...(caution && { caution: [...caution] }),
    ...(hit.explanation && reasonsOf(hit.explanation)),
  };
}

/** Returns the texts of a hit that are shown next to its answer. */
function textBeside(hit: ShownHit) {
  const [known, others] = [standing(hit), besides(hit)];
  return {
    ...(known !== '' && { standing: known }),
    ...(others.length > 0 && { besides: others }),
  };
}

/** Returns the words and the other signals that a hit was found by. */
function reasonsOf({ words, signals }: SearchExplanation) {
  return {
    why: words
      .filter(({ found }) => found.length > 0)
      .map(({ asked, found }) => ({
        asked,
        found: found.map(({ word, how, fields }) => ({ word, how, fields: [...fields] })),
      })),
    signals: Object.keys(signals),
  };
}
