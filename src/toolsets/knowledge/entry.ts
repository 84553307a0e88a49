import * as z from 'zod';
import { withoutEmptySections } from '../../core/markdown/empty-sections.ts';
import { byCreation, type Damaged, type Listing, type Located } from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import { fileNames } from '../../core/names/name.ts';
import { markdownCodec } from '../../core/record/codec.ts';
import { usualRoles } from '../../core/record/part-role.ts';
import { defineRecordType } from '../../core/record/record-type.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/values/json.ts';

/** The categories of seed 004, in its order. */
export const categories = [
  'user-preferences',
  'project-learnings',
  'corrections',
  'patterns',
  'decisions',
  'protocol-state',
] as const;

/** Categories of entries that hold for all work on the project. */
const standing: readonly string[] = ['decisions', 'corrections', 'user-preferences'];

/** One of the six categories. */
export const category = z.enum(categories);
export type Category = z.infer<typeof category>;

/** The key of an entry within its category: any text that is not empty. */
export const key = z.string().min(1).max(10_000);

/** Maximum nesting of lists and objects in metadata; a file could hold about twice as many levels. */
export const maxDepth = 32;

/** Any JSON object. It is stored as given, so that no key is lost, not even `__proto__`. */
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

/** An entry of seed 004, as its tools return it. */
export type KnowledgeEntry = z.infer<typeof schema>;

/** A heading of markdown; a value without one is searched as plain text. */
const heading = /^ {0,3}#{1,6}[ \t]/m;

/** An entry as a markdown file, with its value below the front matter. */
export const entryRecord = defineRecordType<KnowledgeEntry>({
  name: 'knowledge-entry',
  toolset: 'knowledge',
  folder: 'knowledge',
  extension: '.md',
  schema,
  codec: markdownCodec(schema, 'value', 'newline'),
  key: (entry) => entryKey(entry.category, entry.key),
  created: ({ created_at }) => created_at,
  path: (entry) => entryPaths(entry.category, entry.key)[0] ?? '',
  locate(text) {
    const { category, key } = keyParts(text);
    return entryPaths(category, key);
  },
  search: ({ category, key, value, reason, context, updated_at }) => ({
    title: key,
    body: value,
    at: updated_at,
    ...(heading.test(value) && { markdown: true }),
    category,
    ...(reason !== undefined && { reason }),
    ...(context !== undefined && { notes: context }),
  }),
  roles: usualRoles,
  points: ({ category, key, value, updated_at }) => [
    {
      part: standing.includes(category) ? 'decision' : 'about',
      text: `${key}: ${withoutEmptySections(value)}`,
      at: updated_at,
    },
  ],
  decisions: {
    name: 'The knowledge',
    tool: 'memory_read',
    with: 'category decisions',
    among: { under: 'decisions' },
    count: () => 1,
  },
  vocabulary: { category: categories },
  merge: { created_at: 'first', updated_at: 'latest', value: 'text' },
});

/** Lists the entries of some categories: the categories in the order given, their oldest entry first. */
export async function listEntries(
  reader: Reader,
  wanted: readonly Category[],
): Promise<Listing<KnowledgeEntry>> {
  const { records, damaged } = await reader.list(entryRecord);
  const groups = new Map(wanted.map((category) => [category, [] as Located<KnowledgeEntry>[]]));
  for (const record of byCreation(records)) groups.get(record.value.category)?.push(record);
  return {
    records: [...groups.values()].flat(),
    damaged: damagedIn(damaged, wanted),
  };
}

/** The damaged files of some categories. */
export function damagedIn(
  damaged: readonly Damaged[],
  wanted: readonly Category[],
): readonly Damaged[] {
  return damaged.filter(({ path }) =>
    wanted.some((category) => path.startsWith(`knowledge/${category}/`)),
  );
}

/** Returns the key of an entry among those of all categories. */
export function entryKey(category: Category, key: string): string {
  return `${category}/${key}`;
}

/** The category of such a key, and the key of the entry within it. */
export function keyParts(text: string): { readonly category: string; readonly key: string } {
  // A key may contain a slash; a category does not.
  const end = text.indexOf('/');
  return { category: text.slice(0, end), key: text.slice(end + 1) };
}

function entryPaths(category: string, key: string): readonly string[] {
  return fileNames(key).map((name) => `knowledge/${category}/${name}.md`);
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
