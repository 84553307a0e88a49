import * as z from 'zod';
import { nextOffset, offsetArgument } from '../../core/answers/offset-argument.ts';
import { timestamp } from '../../core/declarations/context.ts';
import { reportSimilar } from '../../core/declarations/similar-note.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { evidenceArgument } from '../../core/evidence/annotations.ts';
import { readSection, sectionArgument } from '../../core/markdown/section-argument.ts';
import { cautionField, reportDamaged } from '../../core/memory/answer-fields.ts';
import { byCreation, type Located } from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import { type Document, documentRecord, documentType, idPrefix } from './document.ts';

const memoryId = z.string().describe('UUID of the memory');

/** An existing memory, and whether its text was changed. */
interface Written {
  readonly changed: boolean;
  readonly record: Located<Document>;
}

export const storeMemory = defineTool({
  name: 'store_memory',
  title: 'Store a memory',
  description:
    'Remember a longer text as a new document: a rule, a design. To change one, update_memory; for a short fact, memory_write.',
  effect: 'write',
  input: z.object({
    title: z.string().regex(/\S/, 'must not be blank'),
    type: documentType,
    content: z.string().describe('Markdown'),
    evidence: evidenceArgument,
  }),
  async handle(context, { title, type, content, evidence: places }) {
    const id = context.uuid();
    const created_at = timestamp(context.now());
    const evidence = places && (await context.project.cite(places));
    const why = { subject: `store ${type} "${title}"` };
    const stored = await context.store.change(why, async (transaction) => {
      const value = { id, title, type, created_at, content };
      const written = await transaction.put(documentRecord, value);
      if (evidence) await transaction.annotate(written.path, { evidence });
      return written;
    });
    return { memory_id: id, ...(await reportSimilar(context, documentRecord, stored)) };
  },
});

export const getMemory = defineTool({
  name: 'get_memory',
  title: 'Get a memory',
  description: 'Read a document of store_memory with its content.',
  effect: 'read',
  input: z.object({ memory_id: memoryId, section: sectionArgument }),
  async handle(context, { memory_id, section }) {
    const found = await find(context.store, memory_id);
    const { id, title, type, content: text, created_at, updated_at } = found.value;
    const content = readSection(text, section);
    const memory = { id, title, type, content, created_at };
    const caution = (await context.store.cautions([found.path])).get(found.path);
    return {
      memory: {
        ...memory,
        ...(updated_at !== undefined && { updated_at }),
        ...cautionField(caution),
      },
    };
  },
});

export const listMemories = defineTool({
  name: 'list_memories',
  title: 'List memories',
  description:
    'List the documents that are stored, or those of one type, such as rules: id, title and type, oldest first.',
  effect: 'read',
  input: z.object({
    // Some clients send null for an argument that they leave out.
    type: z.preprocess((given) => given ?? undefined, documentType.optional()),
    offset: offsetArgument,
  }),
  growing: { memories: nextOffset },
  async handle(context, { type, offset }) {
    const { records, damaged } = await context.store.list(documentRecord);
    const memories = byCreation(records)
      .filter(({ value }) => type === undefined || value.type === type)
      .slice(offset)
      .map(({ value }) => ({ id: value.id, title: value.title, type: value.type }));
    return { memories, ...reportDamaged(damaged) };
  },
});

export const updateMemory = defineTool({
  name: 'update_memory',
  title: 'Update a memory',
  description:
    'Replace the content of a document of store_memory; its title and type never change.',
  effect: 'write',
  idempotent: true,
  // Loose, so that the handler sees a `type`: it changes nothing, but seed 002 refuses an invalid one.
  input: z.looseObject({
    memory_id: memoryId,
    content: z.string().describe('Markdown'),
    evidence: evidenceArgument,
  }),
  async handle(context, { memory_id, content, evidence: places, ...rest }) {
    if (rest.type !== undefined && !documentType.safeParse(rest.type).success) {
      throw invalid(['type'], `must be one of ${documentType.options.join(', ')}`);
    }
    const updated_at = timestamp(context.now());
    const evidence = places && (await context.project.cite(places));
    const { changed, record } = await context.store.change(
      ({ record: { value } }: Written) => ({ subject: `update ${value.type} "${value.title}"` }),
      async (transaction) => {
        const found = await find(transaction, memory_id);
        const changed = found.value.content !== content;
        const value = { ...found.value, updated_at, content };
        const record = changed ? await transaction.put(documentRecord, value) : found;
        if (evidence) await transaction.annotate(found.path, { evidence });
        return { changed, record };
      },
    );
    return changed ? reportSimilar(context, documentRecord, record) : {};
  },
});

export const deleteMemory = defineTool({
  name: 'delete_memory',
  title: 'Delete a memory',
  description: 'Delete a document of store_memory. Any other record: forget_memory.',
  effect: 'destroy',
  idempotent: true,
  input: z.object({ memory_id: memoryId }),
  async handle(context, { memory_id }) {
    await context.store.change(
      ({ value }: Located<Document>) => ({ subject: `delete ${value.type} "${value.title}"` }),
      async (transaction) => {
        const found = await find(transaction, memory_id);
        await transaction.remove(documentRecord, found.key);
        return found;
      },
    );
    return {};
  },
});

/**
 * Returns the memory with this id.
 *
 * @throws MemoryError `not_found`, or `damaged` when its file cannot be read.
 */
async function find(reader: Reader, id: string): Promise<Located<Document>> {
  const found = await reader.get(documentRecord, id);
  if (found !== undefined) return found;
  if (z.guid().safeParse(id).success) {
    const { damaged } = await reader.list(documentRecord);
    // The name of an unreadable file contains only the first part of the id.
    const broken = damaged.find(({ path }) => path.includes(`-${idPrefix(id)}`));
    if (broken !== undefined) throw broken.error;
  }
  throw new MemoryError('not_found', 'There is no memory with this id.', {
    hint: 'list_memories returns the ids.',
  });
}
