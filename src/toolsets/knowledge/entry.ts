import { z } from 'zod';
import { markdownCodec } from '../../core/codec.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { encodeName } from '../../core/names/name.ts';
import { defineRecordType } from '../../core/record-type.ts';
import { byCreation, type Listing, type Reader } from '../../core/store.ts';

/** The categories of the seed's table, in its order. */
export const categories = [
  'user-preferences',
  'project-learnings',
  'corrections',
  'patterns',
  'decisions',
  'protocol-state',
] as const;

/** One of the six categories (seed 004, Memory Categories). */
export const category = z.enum(categories);
export type Category = z.infer<typeof category>;

/** Identifies an entry within its category: any text but the empty one. */
export const key = z.string().min(1).max(10_000);

/** Levels of lists and objects that metadata may have; a file could hold about twice as many. */
const maxDepth = 32;

/** Any JSON object. Kept as it is given, so that no key of it, `__proto__` included, is lost. */
export const metadata = z
  .unknown()
  .refine(isMetadata, `must be a JSON object of at most ${maxDepth} levels`)
  .meta({ type: 'object' });

const schema = z.object({
  category,
  key,
  value: z.string(),
  reason: z.string().optional(),
  context: z.string().optional(),
  metadata: metadata.optional(),
  created_at: z.iso.datetime({ offset: true }),
  updated_at: z.iso.datetime({ offset: true }),
});

/** An entry of seed 004, just as its tools answer it. */
export type KnowledgeEntry = z.infer<typeof schema>;

/** An entry as a markdown file: its value below the front matter. */
export const entryRecord = defineRecordType<KnowledgeEntry>({
  name: 'knowledge-entry',
  toolset: 'knowledge',
  folder: 'knowledge',
  extension: '.md',
  schema,
  codec: markdownCodec(schema, 'value'),
  key: (entry) => entryKey(entry.category, entry.key),
  path: (entry) => entryPath(entry.category, entry.key),
  locate(text) {
    // No category has a slash in it; a key may.
    const end = text.indexOf('/');
    return entryPath(text.slice(0, end), text.slice(end + 1));
  },
  search: ({ category, key, value, reason, context }) => ({
    title: key,
    body: value,
    category,
    ...(reason !== undefined && { reason }),
    ...(context !== undefined && { notes: context }),
  }),
  vocabulary: { category: categories },
  merge: { created_at: 'first', updated_at: 'latest', value: 'text' },
});

/** All entries of some categories, in the order of the table, each category's oldest first. */
export async function listEntries(
  reader: Reader,
  wanted: readonly Category[],
): Promise<Listing<KnowledgeEntry>> {
  const { records, damaged } = await reader.list(entryRecord);
  const oldestFirst = byCreation(records);
  return {
    records: wanted.flatMap((category) =>
      oldestFirst.filter(({ value }) => value.category === category),
    ),
    damaged: damaged.filter(({ path }) =>
      wanted.some((category) => path.startsWith(`knowledge/${category}/`)),
    ),
  };
}

/** What identifies an entry among all of them. */
export function entryKey(category: Category, key: string): string {
  return `${category}/${key}`;
}

function entryPath(category: string, key: string): string {
  return `knowledge/${category}/${encodeName(key)}.md`;
}

function isMetadata(value: unknown): value is JsonObject {
  return isObject(value) && isJson(value, maxDepth);
}

function isJson(value: unknown, depth: number): value is JsonValue {
  if (typeof value === 'object' && value !== null) {
    return depth > 0 && Object.values(value).every((inner) => isJson(inner, depth - 1));
  }
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
}
