import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { nextOffset, offsetArgument } from '../../core/answers/offset-argument.ts';
import { timestamp } from '../../core/declarations/context.ts';
import { noteOtherDecisions } from '../../core/declarations/other-decisions.ts';
import { reportSimilar } from '../../core/declarations/similar-note.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { evidenceArgument } from '../../core/evidence/annotations.ts';
import { readSection, sectionArgument } from '../../core/markdown/section-argument.ts';
import { cautionField, reportDamaged } from '../../core/memory/answer-fields.ts';
import type { Located } from '../../core/memory/listing.ts';
import type { Store } from '../../core/memory/store.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { confirm, requireConfirmation } from './confirmation.ts';
import {
  type Category,
  categories,
  category,
  damagedIn,
  entryKey,
  entryRecord,
  type KnowledgeEntry,
  key,
  keyParts,
  listEntries,
  metadata,
} from './entry.ts';

export const memoryRead = defineTool({
  name: 'memory_read',
  title: 'Read knowledge',
  description:
    'Show what the memory says under a key, or all my preferences or another category. Without the key: memory_search.',
  effect: 'read',
  input: z.object({
    category: category.optional(),
    key: key.optional(),
    section: sectionArgument,
    limit: z.int().min(1).max(100_000).default(50),
    offset: offsetArgument,
  }),
  growing: { entries: nextOffset },
  async handle(context, { category, key, section, limit, offset }) {
    const isOne = category !== undefined && key !== undefined;
    const found = isOne ? await context.store.get(entryRecord, entryKey(category, key)) : undefined;
    if (category === 'decisions' && !found) await noteOtherDecisions(context, entryRecord.toolset);
    if (isOne) {
      if (found === undefined) return { entries: [] };
      const value = { ...found.value, value: readSection(found.value.value, section) };
      return { entries: await labelled(context.store, [{ ...found, value }]) };
    }
    if (section !== undefined) throw invalid(['section'], 'needs the category and key of an entry');
    const wanted = category === undefined ? categories : [category];
    const { records, damaged } = await listEntries(context.store, wanted);
    const entries = records.filter(({ value }) => key === undefined || value.key === key);
    return {
      entries: await labelled(context.store, entries.slice(offset, offset + limit)),
      ...(entries.length > offset + limit && { total: entries.length }),
      ...reportDamaged(damaged),
    };
  },
});

interface Written {
  readonly action: 'created' | 'updated';
  readonly entry: KnowledgeEntry;
  /** Undefined if the entry was the same before. */
  readonly path: string | undefined;
}

/** Entries as the tools return them, with what is known against them. */
async function labelled(store: Store, entries: readonly Located<KnowledgeEntry>[]) {
  const cautions = await store.cautions(entries.map(({ path }) => path));
  return entries.map(({ path, value }) => ({ ...value, ...cautionField(cautions.get(path)) }));
}

export const memoryWrite = defineTool({
  name: 'memory_write',
  title: 'Remember knowledge',
  description:
    'Remember and keep in mind what later sessions need, as soon as you learn it: a preference, fact, mistake, pattern. Replaces the entry of the key. A decision: log_decision, or here after you asked the user.',
  effect: 'write',
  idempotent: true,
  input: z.object({
    category,
    key,
    value: z.string(),
    reason: z.string().optional().describe('Why to remember it'),
    context: z.string().optional().describe('When or where you learnt it'),
    metadata: metadata.optional(),
    confirm: confirm.optional().describe('Must be true for decisions'),
    evidence: evidenceArgument,
  }),
  async handle(context, { confirm, evidence: places, ...given }) {
    const { category, key, reason } = given;
    if (category === 'decisions') {
      requireConfirmation(confirm, `The decision "${key}" is not saved yet.`);
    }
    const now = timestamp(context.now());
    const evidence = places && (await context.project.cite(places));
    const { path: written, ...answer } = await context.store.change<Written>(
      ({ action }) => ({
        subject: `${action === 'created' ? 'remember' : 'update'} "${key}" in ${category}`,
        ...(reason !== undefined && { reason }),
      }),
      async (transaction) => {
        const found = await transaction.get(entryRecord, entryKey(category, key));
        const old = found?.value;
        const entry = { ...given, created_at: old?.created_at ?? now, updated_at: now };
        // Writing an equal entry again is not a change, so the timestamp stays.
        if (old !== undefined && isDeepStrictEqual(old, { ...entry, updated_at: old.updated_at })) {
          if (found && evidence) await transaction.annotate(found.path, { evidence });
          return { action: 'updated', entry: old, path: undefined };
        }
        const { path } = await transaction.put(entryRecord, entry);
        if (evidence) await transaction.annotate(path, { evidence });
        return { action: old === undefined ? 'created' : 'updated', entry, path };
      },
    );
    if (written === undefined) return answer;
    const value = answer.entry;
    const similar = await reportSimilar(context, entryRecord, { path: written, value });
    return { ...answer, ...similar };
  },
});

export const memoryList = defineTool({
  name: 'memory_list',
  title: 'List knowledge',
  description: 'Which keys there are in each category, without values.',
  effect: 'read',
  input: z.object({
    category: category.optional(),
    include_timestamps: z.boolean().default(false),
  }),
  complete: ['categories'],
  async handle(context, { category, include_timestamps }) {
    const wanted = category === undefined ? categories : [category];
    const { groups, damaged } = include_timestamps
      ? await listTimes(context.store, wanted)
      : await listKeys(context.store, wanted);
    return { categories: Object.fromEntries(groups), ...reportDamaged(damaged) };
  },
});

/** Lists the keys of some categories, and counts them. It needs no values. */
async function listKeys(store: Store, wanted: readonly Category[]) {
  const { keys, damaged } = await store.keys(entryRecord);
  const own = keys.map(keyParts);
  const groups = wanted.map((category): [Category, JsonObject] => {
    const found = own.flatMap((one) => (one.category === category ? one.key : []));
    return [category, { count: found.length, keys: found }];
  });
  return { groups, damaged: damagedIn(damaged, wanted) };
}

/** The same with the times of each entry. */
async function listTimes(store: Store, wanted: readonly Category[]) {
  const { records, damaged } = await listEntries(store, wanted);
  const groups = wanted.map((category): [Category, JsonObject] => {
    const own = records.flatMap(({ value }) => (value.category === category ? value : []));
    const timestamps = Object.fromEntries(
      own.map(({ key, created_at, updated_at }) => [key, { created_at, updated_at }]),
    );
    return [category, { count: own.length, keys: own.map(({ key }) => key), timestamps }];
  });
  return { groups, damaged };
}

export const memoryDelete = defineTool({
  name: 'memory_delete',
  title: 'Forget knowledge',
  description: 'Delete a key from its category. Other records and lines: forget_memory.',
  effect: 'destroy',
  idempotent: true,
  input: z.object({ category, key, confirm: confirm.describe('Must be true') }),
  async handle(context, { category, key, confirm }) {
    const missing = new MemoryError('not_found', `There is no entry "${key}" in ${category}.`, {
      hint: 'memory_list returns the keys.',
    });
    const id = entryKey(category, key);
    if (confirm !== true && !(await context.store.get(entryRecord, id))) throw missing;
    requireConfirmation(confirm, `The entry "${key}" in ${category} is not deleted yet.`);
    await context.store.change(
      { subject: `forget "${key}" in ${category}` },
      async (transaction) => {
        if (!(await transaction.remove(entryRecord, id))) throw missing;
      },
    );
    return { deleted: { category, key } };
  },
});
