import * as z from 'zod';
import { saveText } from '../../app/project/record-text.ts';
import type { Context } from '../../core/declarations/context.ts';
import { renderHtml } from '../../core/markdown/html.ts';
import { readSection, sectionArgument } from '../../core/markdown/section-argument.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { listShape, recordShape, restoredShape } from '../page/answers.ts';
import { previewShape, savedShape } from '../page/edit-answers.ts';
import {
  at,
  commitId,
  isHistoryPart,
  path,
  referenceTo,
  skip,
  toolset,
  type,
  typesOf,
} from './answer-data.ts';
import { changedFields, textWith } from './form-operation.ts';
import { defineMemoryOperation } from './operation.ts';
import { contentOf, readRecord, recordAnswer } from './record-answer.ts';
import { RecordLinks } from './record-links.ts';
import { type KnownRecord, readState } from './record-source.ts';

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
  async run(context, { at, skip, limit, ...kind }, { types }) {
    const { records } = await readState(context, typesOf(types, kind), at);
    const sorted = [...records].sort((a, b) => (a.path < b.path ? -1 : 1));
    const listed = sorted.slice(skip, skip + limit).map((record) => ({
      ...referenceTo(record),
      toolset: record.type.toolset,
      ...listFields(record),
    }));
    const undated = listed.filter(({ updated }) => updated === undefined);
    const times = await lastChanges(context, undated, at);
    const isPart = times.size < undated.length && (await isHistoryPart(context, at));
    return {
      records: listed.map((one) => ({ ...one, ...times.get(one.path) })),
      total: records.length,
      ...(isPart && { isPart }),
    };
  },
});

/** Returns the times of the last changes of records that do not have them in their fields, by path. */
async function lastChanges(
  { store, history }: Context,
  records: readonly { readonly path: string }[],
  at: string | undefined,
): Promise<ReadonlyMap<string, { readonly updated?: string; readonly isEdited?: true }>> {
  if (records.length === 0) return new Map();
  const places = records.map(({ path }) => ({ path }));
  const dated =
    at === undefined ? await store.dated(places) : await (await history.at(at)).dated(places);
  return new Map(
    dated.flatMap(({ path, changed }) =>
      changed
        ? [[path, changed.at === undefined ? { isEdited: true } : { updated: changed.at }]]
        : [],
    ),
  );
}

/** Returns the fields by which a list groups and describes records. */
export function listFields({ type, path, value }: KnownRecord) {
  const { status, updated_at, last_updated, created_at } = value;
  const updated = [updated_at, last_updated, created_at].find((one) => typeof one === 'string');
  const { category, type: kind } = type.search(value);
  // A bank is a folder of documents.
  const [, bank] = /^banks\/([^/]+\/[^/]+)\//.exec(path) ?? [];
  const group = bank ?? category ?? kind;
  return {
    ...(typeof status === 'string' && { status }),
    ...(group !== undefined && { group }),
    ...(typeof updated === 'string' && { updated }),
  };
}

export const record = defineMemoryOperation({
  method: 'get',
  path: '/memory/record/{path}',
  id: 'get_record',
  summary: 'Returns a record as text, fields and HTML, with the records that it is linked with.',
  input: z.object({ path, at, section: sectionArgument }),
  answer: recordShape,
  async run(context, { path, at, section }, { types }) {
    const read = await readRecord(context, types, path, at);
    await context.store.used([path]);
    const { records } = await readState(context, types, at);
    const answer = recordAnswer(read, path, new RecordLinks(records));
    return section === undefined ? answer : { ...answer, ...onlySection(read.text, section) };
  },
});

/** The text of one section, and its HTML. */
function onlySection(whole: string, section: string) {
  const text = readSection(whole, section);
  return { text, html: renderHtml(text) };
}

export const restore = defineMemoryOperation({
  method: 'post',
  path: '/memory/restore',
  id: 'restore_record',
  summary: 'Brings a record back to the state that a revision has, as a new commit.',
  input: z.object({
    path,
    revision: z.string().min(1).max(256),
    removes: z
      .boolean()
      .default(false)
      .describe('Whether a record that the revision does not have is removed'),
    seen: commitId
      .optional()
      .describe(
        'The last commit whose records the person has seen; a record changed since is refused',
      ),
  }),
  answer: restoredShape,
  async run({ history }, { path, revision, removes, seen }) {
    const { restored, removed, undone, damaged } = await history.restore(path, revision, {
      removes,
      seen,
    });
    return {
      restored: [...restored],
      removed: [...removed],
      undone: [...undone],
      damaged: damaged.map(({ path }) => path),
    };
  },
});

/** A new text of a record, or the changed fields of its old text. */
const newContent = {
  path,
  before: z.string().optional().describe('The text that the new one was made from'),
  text: z.string().optional(),
  fields: changedFields.optional().describe('Instead of a text: the changed fields of `before`'),
};

export const preview = defineMemoryOperation({
  method: 'post',
  path: '/memory/preview',
  id: 'preview_record',
  summary: 'Checks a new content of a record and returns it as fields and HTML; nothing is saved.',
  effect: 'read',
  input: z.object(newContent),
  answer: previewShape,
  async run(context, { path, ...content }, { types }) {
    const { type } = await readRecord(context, types, path, undefined);
    try {
      const text = textOf(context, type, path, content);
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
  summary: 'Commits a new content of a record, unless the record was changed meanwhile.',
  input: z.object({
    ...newContent,
    before: newContent.before.unwrap(),
    reason: z.string().max(10_000).optional(),
  }),
  answer: savedShape,
  async run(context, { path, before, reason, ...content }, { types }) {
    const { type, value } = await readRecord(context, types, path, undefined);
    const key = value && type.key(value);
    const text = textOf(context, type, path, { before, ...content });
    try {
      await saveText(context, { type, path, key }, { before, after: text, reason });
      return { saved: true, text };
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'conflict') throw error;
      const now = await readRecord(context, types, path, undefined);
      return { saved: false, text: now.text, ...(isObject(now.value) && { fields: now.value }) };
    }
  },
});

/** Returns the text that a person has written, or has made with a form. */
function textOf(
  context: Context,
  type: AnyRecordType,
  path: string,
  {
    before,
    text,
    fields,
  }: { [name in 'before' | 'text']?: string | undefined } & { fields?: object | undefined },
): string {
  if (text !== undefined) return text;
  if (before === undefined || fields === undefined) {
    throw new MemoryError(
      'invalid_input',
      'Give a text, or the changed fields and the text before.',
    );
  }
  return textWith(type, path, before, fields as JsonObject, context);
}
