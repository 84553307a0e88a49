import * as z from 'zod';
import { decisionIn } from '../../core/declarations/answer-text.ts';
import { withoutEmptySections } from '../../core/markdown/empty-sections.ts';
import { slug } from '../../core/names/name.ts';
import { markdownCodec } from '../../core/record/codec.ts';
import { usualRoles } from '../../core/record/part-role.ts';
import { defineRecordType } from '../../core/record/record-type.ts';

/** The closed list of memory types (seed 002). */
export const documentType = z.enum([
  'design_doc',
  'project_overview',
  'implementation_plan',
  'progress_tracker',
  'test_plan',
  'instructions',
  'rules',
  'analysis',
]);

const schema = z.object({
  id: z.guid(),
  title: z.string(),
  type: documentType,
  created_at: z.iso.datetime({ offset: true }),
  updated_at: z.iso.datetime({ offset: true }).optional(),
  content: z.string(),
});

/** A memory of seed 002. */
export type Document = z.infer<typeof schema>;

/**
 * Returns the first part of an id, which is part of the file name.
 *
 * It keeps the name short. In the rare case of two equal names the store adds a number to one of them.
 */
export function idPrefix(id: string): string {
  return id.slice(0, 8).toLowerCase();
}

/** A memory as a markdown file: its content below the front matter. */
export const documentRecord = defineRecordType<Document>({
  name: 'document',
  toolset: 'documents',
  folder: 'documents',
  extension: '.md',
  schema,
  codec: markdownCodec(schema, 'content'),
  key: ({ id }) => id,
  path: ({ id, title, type }) => `documents/${type}/${slug(title)}-${idPrefix(id)}.md`,
  search: ({ title, type, content, created_at, updated_at: at = created_at }) => ({
    title,
    type,
    body: content,
    markdown: true,
    at,
  }),
  roles: usualRoles,
  points: ({ title, content, created_at, updated_at = created_at }) => [
    {
      part: 'about',
      text: `${title}: ${decisionIn(content) ?? withoutEmptySections(content)}`,
      at: updated_at,
    },
  ],
  vocabulary: { type: documentType.options },
  merge: { created_at: 'first', updated_at: 'latest', content: 'text' },
});
