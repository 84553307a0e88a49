import { z } from 'zod';
import { recordText, saveText } from '../../app/record-text.ts';
import type { Context } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';
import type { CommitInfo } from '../../core/history.ts';
import { isObject } from '../../core/json.ts';
import { renderHtml } from '../../core/markdown/html.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import { reportLeftOut } from '../../core/store.ts';
import {
  listShape,
  previewShape,
  recordShape,
  restoredShape,
  savedShape,
  searchShape,
} from '../page/answers.ts';
import { at, commitData, path, referenceTo, skip } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';
import { RecordLinks } from './record-links.ts';
import { type KnownRecord, readState, titleOf } from './record-source.ts';

const toolset = z.string().max(100).optional().describe('Only records of this toolset');
const type = z.string().max(100).optional().describe('Only records of this type');

export const records = defineMemoryOperation({
  method: 'get',
  path: '/memory/records',
  id: 'list_records',
  summary: 'Lists the records of every toolset by path.',
  input: z.object({
    at,
    toolset,
    type,
    skip,
    limit: z.coerce.number().int().min(1).max(1000).default(200),
  }),
  answer: listShape,
  async run(context, { at, toolset, type, skip, limit }, { types }) {
    const wanted = types.filter(
      (one) => one.toolset === (toolset ?? one.toolset) && one.name === (type ?? one.name),
    );
    const { records } = await readState(context, wanted, at);
    const sorted = [...records].sort((a, b) => (a.path < b.path ? -1 : 1));
    return {
      records: sorted.slice(skip, skip + limit).map((record) => ({
        ...referenceTo(record),
        toolset: record.type.toolset,
        ...textFields(record.value),
      })),
      total: records.length,
    };
  },
});

/** Returns the fields by which a list groups records. */
function textFields({ status, objective }: KnownRecord['value']) {
  return {
    ...(typeof status === 'string' && { status }),
    ...(typeof objective === 'string' && { owner: objective }),
  };
}

export const record = defineMemoryOperation({
  method: 'get',
  path: '/memory/record/{path}',
  id: 'get_record',
  summary: 'Returns a record as text, fields and HTML, with the records that it is linked with.',
  input: z.object({ path, at }),
  answer: recordShape,
  async run(context, { path, at }, { types }) {
    const { type, text, value, damaged, last } = await readRecord(context, types, path, at);
    const state = await readState(context, types, at);
    const found = state.records.find((one) => one.path === path);
    const links = new RecordLinks(state.records);
    return {
      path,
      type: type.name,
      toolset: type.toolset,
      title: value ? titleOf(type, value, path) : path,
      text,
      ...(value ? contentOf(type, value, path) : { fields: {} }),
      ...(damaged !== undefined && { damaged }),
      ...(last && { last: commitData(last) }),
      links: {
        to: found ? links.from(found).map(referenceTo) : [],
        from: found ? links.to(found).map(referenceTo) : [],
      },
    };
  },
});

export const search = defineMemoryOperation({
  method: 'get',
  path: '/memory/search',
  id: 'search_records',
  summary: 'Finds records by words, the best matches first.',
  input: z.object({
    query: z.string().max(10_000),
    at,
    toolset,
    type,
    limit: z.coerce.number().int().min(1).max(200).default(30),
  }),
  answer: searchShape,
  async run({ store, history }, { query, at, toolset, type, limit }, { types }) {
    if (!/[\p{L}\p{N}]/u.test(query)) return { hits: [], total: 0 };
    const wanted = types.filter(
      (one) => one.toolset === (toolset ?? one.toolset) && one.name === (type ?? one.name),
    );
    const searched = at === undefined ? store : await history.at(at);
    const result = await searched.search({ query, types: wanted, limit });
    const { note } = reportLeftOut(result);
    return {
      hits: result.hits.map(({ type, path, value, score, snippet, matches, section }) => ({
        path,
        type: type.name,
        toolset: type.toolset,
        title: titleOf(type, value, path),
        snippet,
        matches: [...matches],
        score,
        ...(section !== undefined && { section }),
      })),
      total: result.total,
      ...(typeof note === 'string' && { note }),
    };
  },
});

export const restore = defineMemoryOperation({
  method: 'post',
  path: '/memory/restore',
  id: 'restore_record',
  summary: 'Brings a record back to the state that a revision has, as a new commit.',
  input: z.object({ path, revision: z.string().min(1).max(256) }),
  answer: restoredShape,
  async run({ history }, { path, revision }) {
    const { restored, removed, damaged } = await history.restore(path, revision);
    const [first] = damaged;
    if (first) throw first.error;
    return { restored: [...restored], removed: [...removed] };
  },
});

export const preview = defineMemoryOperation({
  method: 'post',
  path: '/memory/preview',
  id: 'preview_record',
  summary: 'Checks a new text of a record and returns it as fields and HTML; nothing is saved.',
  effect: 'read',
  input: z.object({ path, text: z.string() }),
  answer: previewShape,
  async run(context, { path, text }, { types }) {
    const { type } = await readRecord(context, types, path, undefined);
    try {
      return contentOf(type, type.codec.decode(text, path), path);
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      return { fields: {}, problem: error.text };
    }
  },
});

export const save = defineMemoryOperation({
  method: 'post',
  path: '/memory/record',
  id: 'save_record',
  summary: 'Commits a new text of a record, unless the record was changed meanwhile.',
  input: z.object({
    path,
    before: z.string().describe('The text that the new one was made from'),
    text: z.string(),
    reason: z.string().max(10_000).optional(),
  }),
  answer: savedShape,
  async run(context, { path, before, text, reason }, { types }) {
    const { type, value } = await readRecord(context, types, path, undefined);
    const key = value && type.key(value);
    try {
      await saveText(context, { type, path, key }, { before, after: text, reason });
      return { saved: true, text };
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'conflict') throw error;
      return { saved: false, text: await recordText(context, path) };
    }
  },
});

/** A record as a page shows it. */
interface ReadRecord {
  readonly type: AnyRecordType;
  readonly text: string;
  readonly value: object | undefined;
  readonly damaged: string | undefined;
  readonly last: CommitInfo | undefined;
}

async function readRecord(
  context: Context,
  types: readonly AnyRecordType[],
  path: string,
  revision: string | undefined,
): Promise<ReadRecord> {
  if (revision !== undefined) {
    const { type, text, value, error, last } = await (await context.history.at(revision)).read(
      path,
    );
    return { type, text, value, damaged: error?.text, last };
  }
  for (const type of types.filter((one) => one.owns(path))) {
    const { records, damaged } = await context.store.list(type);
    const record = records.find((one) => one.path === path);
    const problem = damaged.find((one) => one.path === path);
    if (!record && !problem) continue;
    const text = await recordText(context, path);
    const last = await lastCommit(context, path);
    return { type, text, value: record?.value, damaged: problem?.error.text, last };
  }
  throw new MemoryError('not_found', `There is no record "${path}".`);
}

/** Returns the last commit of a record; a record that a person has just written has none. */
async function lastCommit({ history }: Context, path: string): Promise<CommitInfo | undefined> {
  const log = await history
    .log({ path, revision: 'HEAD', limit: 1, skip: 0 })
    .catch((error: unknown) => {
      if (error instanceof MemoryError && error.code === 'not_found') return undefined;
      throw error;
    });
  return log?.entries[0]?.commit;
}

/** Returns the fields of a record, and the body of a markdown file as HTML. */
function contentOf(type: AnyRecordType, value: object, path: string) {
  const { body } = type.search(value);
  const isBody = (field: unknown) => path.endsWith('.md') && field === body;
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(isObject(value) ? value : {})) {
    // The page is about this path.
    if (field !== undefined && !isBody(field) && name !== 'path') fields[name] = field;
  }
  if (!path.endsWith('.md') || body === undefined) return { fields };
  return { fields, html: renderHtml(body) };
}
