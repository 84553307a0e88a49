import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import type { Context } from '../../core/declarations/context.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { readSection, sectionArgument } from '../../core/markdown/section-argument.ts';
import { cautionField } from '../../core/memory/answer-fields.ts';
import type { PastRecord } from '../../core/memory/history.ts';
import { reportSearch } from '../../core/memory/hit-form.ts';
import { foreignNote, parseForeign } from '../../core/memory/pinned-memories.ts';
import type { SearchRequest } from '../../core/memory/search-hit.ts';
import { parseAddress, type RecordAddress } from '../../core/names/record-address.ts';
import { invalid } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { commitAnswer, endOfPiece, withinBudget } from './answer.ts';
import { limit, path, revision } from './history-fields.ts';

/** Maximum length of the text in one answer, in characters: 5,000 tokens. */
export const maxText = 20_000;
/** Maximum number of records in one list. */
const maxRecords = 200;

export const readAsOf = defineTool({
  name: 'read_as_of',
  title: 'Read as of',
  description:
    'Read what a file or record said before: as it was at a commit, on a branch or date, such as a month ago. Without path or with a folder: lists records.',
  effect: 'read',
  input: z.object({
    revision,
    path: path.optional(),
    section: sectionArgument,
    offset: z.int().min(0).max(100_000_000).default(0),
  }),
  async handle({ history, memories }, { revision, path: given, section: asked, offset }) {
    const { path, section = asked } = given === undefined ? {} : partOf(given);
    const snapshot = await history.at(revision);
    const as_of = commitAnswer(snapshot.commit);
    if (path !== undefined && parseForeign(path)) {
      const { memory, commit, text, caution, ...record } = await memories.read(path, revision);
      const all = readSection(text, section);
      return {
        as_of,
        memory,
        commit,
        ...recordAnswer(record),
        ...cautionField([foreignNote, ...caution]),
        ...pieceOf(all, offset),
      };
    }
    if (path === undefined || !/\.(?:md|yaml)$/.test(path)) {
      if (section !== undefined) throw invalid(['section'], 'needs the path of a record');
      const { records, total } = await snapshot.list(path, maxRecords, offset);
      const listed = withinBudget(records.map(recordAnswer));
      const next = offset + listed.length;
      return { as_of, records: listed, total, ...(next < total && { next_offset: next }) };
    }
    const { text: whole, last, ...record } = await snapshot.read(path);
    return {
      as_of,
      ...recordAnswer(record),
      last_change: commitAnswer(last),
      ...pieceOf(readSection(whole, section), offset),
    };
  },
});

/** A path as it is given; the address of a section names the record and the section. */
function partOf(given: string): Partial<RecordAddress> {
  return parseForeign(given) ? { path: given } : parseAddress(given);
}

/** The part of a text that fits into one answer. */
function pieceOf(text: string, offset: number) {
  const end = endOfPiece(text, offset, maxText);
  return {
    text: text.slice(offset, end),
    ...(end < text.length && { next_offset: end, characters: text.length }),
  };
}

function recordAnswer({
  type,
  path,
  key,
  value,
  error,
}: Omit<PastRecord, 'error'> & Partial<Pick<PastRecord, 'error'>>) {
  return {
    path,
    record: type.name,
    ...(key !== undefined && { key }),
    ...(value !== undefined && { title: type.search(value).title }),
    ...(error !== undefined && { damaged: error.text }),
  };
}

export const searchAsOf = defineTool({
  name: 'search_as_of',
  title: 'Search as of',
  description: 'The same as search_memory with as_of: the search at a commit, on a branch or date.',
  effect: 'read',
  input: z.object({
    revision,
    query: z.string().regex(/\S/, 'must not be blank').max(10_000),
    type: z.string().min(1).max(100).optional(),
    path: path.optional().describe('Glob'),
    limit,
    offset: offsetArgument,
    explain: z.boolean().default(false),
  }),
  async handle(context, { revision, query, type, path, limit, offset, explain }) {
    return searchPast(context, revision, {
      query,
      limit,
      offset,
      explain,
      ...(type !== undefined && { type }),
      ...(path !== undefined && { path }),
    });
  },
});

/** Searches the memory of a commit. */
export async function searchPast(
  { history }: Pick<Context, 'history'>,
  revision: string,
  request: SearchRequest & { readonly offset: number },
): Promise<JsonObject> {
  const { offset } = request;
  const snapshot = await history.at(revision);
  const report = reportSearch(await snapshot.search(request), offset);
  const results = withinBudget(report.results);
  const truncated = offset + results.length < report.total;
  return { as_of: commitAnswer(snapshot.commit), ...report, results, truncated };
}
